import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_poi_fused__unsafe_view_add_clone_exp_mul_neg_select_silu_slice_softplus_split_with_sizes_transpose_unsqueeze_zeros_4(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, out_ptr0, out_ptr1, out_ptr2, out_ptr3, out_ptr4, out_ptr5, out_ptr6, out_ptr7, out_ptr8, out_ptr9, out_ptr10, out_ptr11, out_ptr12, out_ptr13, out_ptr14, out_ptr15, out_ptr16, out_ptr17, out_ptr18, out_ptr19, out_ptr20, out_ptr21, out_ptr22, out_ptr23, out_ptr24, out_ptr25, out_ptr26, out_ptr27, out_ptr28, out_ptr29, out_ptr30, out_ptr31, out_ptr32, out_ptr33, out_ptr34, out_ptr35, out_ptr36, out_ptr37, out_ptr38, out_ptr39, out_ptr40, out_ptr41, out_ptr42, out_ptr43, out_ptr44, out_ptr45, out_ptr46, out_ptr47, out_ptr48, out_ptr49, out_ptr50, out_ptr51, out_ptr52, out_ptr53, out_ptr54, out_ptr55, out_ptr56, out_ptr57, out_ptr58, out_ptr59, out_ptr60, out_ptr61, out_ptr62, out_ptr63, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 512
    xnumel = 16
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y0 = (yindex % 128)
    y1 = yindex // 128
    y3 = yindex
    tmp0 = tl.load(in_ptr0 + (x2 + 16*y0), xmask & ymask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr1 + (y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr2 + (y0), ymask, eviction_policy='evict_last')
    tmp15 = tl.load(in_ptr3 + (4 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr4 + (67*y3), ymask, eviction_policy='evict_last')
    tmp22 = tl.load(in_ptr1 + (128 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp31 = tl.load(in_ptr3 + (40 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp33 = tl.load(in_ptr4 + (1 + 67*y3), ymask, eviction_policy='evict_last')
    tmp38 = tl.load(in_ptr1 + (256 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp47 = tl.load(in_ptr3 + (76 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp49 = tl.load(in_ptr4 + (2 + 67*y3), ymask, eviction_policy='evict_last')
    tmp54 = tl.load(in_ptr1 + (384 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp63 = tl.load(in_ptr3 + (112 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp65 = tl.load(in_ptr4 + (3 + 67*y3), ymask, eviction_policy='evict_last')
    tmp70 = tl.load(in_ptr1 + (512 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp79 = tl.load(in_ptr3 + (148 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp81 = tl.load(in_ptr4 + (4 + 67*y3), ymask, eviction_policy='evict_last')
    tmp86 = tl.load(in_ptr1 + (640 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp95 = tl.load(in_ptr3 + (184 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp97 = tl.load(in_ptr4 + (5 + 67*y3), ymask, eviction_policy='evict_last')
    tmp102 = tl.load(in_ptr1 + (768 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp111 = tl.load(in_ptr3 + (220 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp113 = tl.load(in_ptr4 + (6 + 67*y3), ymask, eviction_policy='evict_last')
    tmp118 = tl.load(in_ptr1 + (896 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp127 = tl.load(in_ptr3 + (256 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp129 = tl.load(in_ptr4 + (7 + 67*y3), ymask, eviction_policy='evict_last')
    tmp134 = tl.load(in_ptr1 + (1024 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp143 = tl.load(in_ptr3 + (292 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp145 = tl.load(in_ptr4 + (8 + 67*y3), ymask, eviction_policy='evict_last')
    tmp150 = tl.load(in_ptr1 + (1152 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp159 = tl.load(in_ptr3 + (328 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp161 = tl.load(in_ptr4 + (9 + 67*y3), ymask, eviction_policy='evict_last')
    tmp166 = tl.load(in_ptr1 + (1280 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp175 = tl.load(in_ptr3 + (364 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp177 = tl.load(in_ptr4 + (10 + 67*y3), ymask, eviction_policy='evict_last')
    tmp182 = tl.load(in_ptr1 + (1408 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp191 = tl.load(in_ptr3 + (400 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp193 = tl.load(in_ptr4 + (11 + 67*y3), ymask, eviction_policy='evict_last')
    tmp198 = tl.load(in_ptr1 + (1536 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp207 = tl.load(in_ptr3 + (436 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp209 = tl.load(in_ptr4 + (12 + 67*y3), ymask, eviction_policy='evict_last')
    tmp214 = tl.load(in_ptr1 + (1664 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp223 = tl.load(in_ptr3 + (472 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp225 = tl.load(in_ptr4 + (13 + 67*y3), ymask, eviction_policy='evict_last')
    tmp230 = tl.load(in_ptr1 + (1792 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp239 = tl.load(in_ptr3 + (508 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp241 = tl.load(in_ptr4 + (14 + 67*y3), ymask, eviction_policy='evict_last')
    tmp246 = tl.load(in_ptr1 + (1920 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp255 = tl.load(in_ptr3 + (544 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp257 = tl.load(in_ptr4 + (15 + 67*y3), ymask, eviction_policy='evict_last')
    tmp262 = tl.load(in_ptr1 + (2048 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp271 = tl.load(in_ptr3 + (580 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp273 = tl.load(in_ptr4 + (16 + 67*y3), ymask, eviction_policy='evict_last')
    tmp278 = tl.load(in_ptr1 + (2176 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp287 = tl.load(in_ptr3 + (616 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp289 = tl.load(in_ptr4 + (17 + 67*y3), ymask, eviction_policy='evict_last')
    tmp294 = tl.load(in_ptr1 + (2304 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp303 = tl.load(in_ptr3 + (652 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp305 = tl.load(in_ptr4 + (18 + 67*y3), ymask, eviction_policy='evict_last')
    tmp310 = tl.load(in_ptr1 + (2432 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp319 = tl.load(in_ptr3 + (688 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp321 = tl.load(in_ptr4 + (19 + 67*y3), ymask, eviction_policy='evict_last')
    tmp326 = tl.load(in_ptr1 + (2560 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp335 = tl.load(in_ptr3 + (724 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp337 = tl.load(in_ptr4 + (20 + 67*y3), ymask, eviction_policy='evict_last')
    tmp342 = tl.load(in_ptr1 + (2688 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp351 = tl.load(in_ptr3 + (760 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp353 = tl.load(in_ptr4 + (21 + 67*y3), ymask, eviction_policy='evict_last')
    tmp358 = tl.load(in_ptr1 + (2816 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp367 = tl.load(in_ptr3 + (796 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp369 = tl.load(in_ptr4 + (22 + 67*y3), ymask, eviction_policy='evict_last')
    tmp374 = tl.load(in_ptr1 + (2944 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp383 = tl.load(in_ptr3 + (832 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp385 = tl.load(in_ptr4 + (23 + 67*y3), ymask, eviction_policy='evict_last')
    tmp390 = tl.load(in_ptr1 + (3072 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp399 = tl.load(in_ptr3 + (868 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp401 = tl.load(in_ptr4 + (24 + 67*y3), ymask, eviction_policy='evict_last')
    tmp406 = tl.load(in_ptr1 + (3200 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp415 = tl.load(in_ptr3 + (904 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp417 = tl.load(in_ptr4 + (25 + 67*y3), ymask, eviction_policy='evict_last')
    tmp422 = tl.load(in_ptr1 + (3328 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp431 = tl.load(in_ptr3 + (940 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp433 = tl.load(in_ptr4 + (26 + 67*y3), ymask, eviction_policy='evict_last')
    tmp438 = tl.load(in_ptr1 + (3456 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp447 = tl.load(in_ptr3 + (976 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp449 = tl.load(in_ptr4 + (27 + 67*y3), ymask, eviction_policy='evict_last')
    tmp454 = tl.load(in_ptr1 + (3584 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp463 = tl.load(in_ptr3 + (1012 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp465 = tl.load(in_ptr4 + (28 + 67*y3), ymask, eviction_policy='evict_last')
    tmp470 = tl.load(in_ptr1 + (3712 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp479 = tl.load(in_ptr3 + (1048 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp481 = tl.load(in_ptr4 + (29 + 67*y3), ymask, eviction_policy='evict_last')
    tmp486 = tl.load(in_ptr1 + (3840 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp495 = tl.load(in_ptr3 + (1084 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp497 = tl.load(in_ptr4 + (30 + 67*y3), ymask, eviction_policy='evict_last')
    tmp502 = tl.load(in_ptr1 + (3968 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp511 = tl.load(in_ptr3 + (1120 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp513 = tl.load(in_ptr4 + (31 + 67*y3), ymask, eviction_policy='evict_last')
    tmp518 = tl.load(in_ptr1 + (4096 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp527 = tl.load(in_ptr3 + (1156 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp529 = tl.load(in_ptr4 + (32 + 67*y3), ymask, eviction_policy='evict_last')
    tmp534 = tl.load(in_ptr1 + (4224 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp543 = tl.load(in_ptr3 + (1192 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp545 = tl.load(in_ptr4 + (33 + 67*y3), ymask, eviction_policy='evict_last')
    tmp550 = tl.load(in_ptr1 + (4352 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp559 = tl.load(in_ptr3 + (1228 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp561 = tl.load(in_ptr4 + (34 + 67*y3), ymask, eviction_policy='evict_last')
    tmp566 = tl.load(in_ptr1 + (4480 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp575 = tl.load(in_ptr3 + (1264 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp577 = tl.load(in_ptr4 + (35 + 67*y3), ymask, eviction_policy='evict_last')
    tmp582 = tl.load(in_ptr1 + (4608 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp591 = tl.load(in_ptr3 + (1300 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp593 = tl.load(in_ptr4 + (36 + 67*y3), ymask, eviction_policy='evict_last')
    tmp598 = tl.load(in_ptr1 + (4736 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp607 = tl.load(in_ptr3 + (1336 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp609 = tl.load(in_ptr4 + (37 + 67*y3), ymask, eviction_policy='evict_last')
    tmp614 = tl.load(in_ptr1 + (4864 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp623 = tl.load(in_ptr3 + (1372 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp625 = tl.load(in_ptr4 + (38 + 67*y3), ymask, eviction_policy='evict_last')
    tmp630 = tl.load(in_ptr1 + (4992 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp639 = tl.load(in_ptr3 + (1408 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp641 = tl.load(in_ptr4 + (39 + 67*y3), ymask, eviction_policy='evict_last')
    tmp646 = tl.load(in_ptr1 + (5120 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp655 = tl.load(in_ptr3 + (1444 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp657 = tl.load(in_ptr4 + (40 + 67*y3), ymask, eviction_policy='evict_last')
    tmp662 = tl.load(in_ptr1 + (5248 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp671 = tl.load(in_ptr3 + (1480 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp673 = tl.load(in_ptr4 + (41 + 67*y3), ymask, eviction_policy='evict_last')
    tmp678 = tl.load(in_ptr1 + (5376 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp687 = tl.load(in_ptr3 + (1516 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp689 = tl.load(in_ptr4 + (42 + 67*y3), ymask, eviction_policy='evict_last')
    tmp694 = tl.load(in_ptr1 + (5504 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp703 = tl.load(in_ptr3 + (1552 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp705 = tl.load(in_ptr4 + (43 + 67*y3), ymask, eviction_policy='evict_last')
    tmp710 = tl.load(in_ptr1 + (5632 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp719 = tl.load(in_ptr3 + (1588 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp721 = tl.load(in_ptr4 + (44 + 67*y3), ymask, eviction_policy='evict_last')
    tmp726 = tl.load(in_ptr1 + (5760 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp735 = tl.load(in_ptr3 + (1624 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp737 = tl.load(in_ptr4 + (45 + 67*y3), ymask, eviction_policy='evict_last')
    tmp742 = tl.load(in_ptr1 + (5888 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp751 = tl.load(in_ptr3 + (1660 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp753 = tl.load(in_ptr4 + (46 + 67*y3), ymask, eviction_policy='evict_last')
    tmp758 = tl.load(in_ptr1 + (6016 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp767 = tl.load(in_ptr3 + (1696 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp769 = tl.load(in_ptr4 + (47 + 67*y3), ymask, eviction_policy='evict_last')
    tmp774 = tl.load(in_ptr1 + (6144 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp783 = tl.load(in_ptr3 + (1732 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp785 = tl.load(in_ptr4 + (48 + 67*y3), ymask, eviction_policy='evict_last')
    tmp790 = tl.load(in_ptr1 + (6272 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp799 = tl.load(in_ptr3 + (1768 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp801 = tl.load(in_ptr4 + (49 + 67*y3), ymask, eviction_policy='evict_last')
    tmp806 = tl.load(in_ptr1 + (6400 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp815 = tl.load(in_ptr3 + (1804 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp817 = tl.load(in_ptr4 + (50 + 67*y3), ymask, eviction_policy='evict_last')
    tmp822 = tl.load(in_ptr1 + (6528 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp831 = tl.load(in_ptr3 + (1840 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp833 = tl.load(in_ptr4 + (51 + 67*y3), ymask, eviction_policy='evict_last')
    tmp838 = tl.load(in_ptr1 + (6656 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp847 = tl.load(in_ptr3 + (1876 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp849 = tl.load(in_ptr4 + (52 + 67*y3), ymask, eviction_policy='evict_last')
    tmp854 = tl.load(in_ptr1 + (6784 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp863 = tl.load(in_ptr3 + (1912 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp865 = tl.load(in_ptr4 + (53 + 67*y3), ymask, eviction_policy='evict_last')
    tmp870 = tl.load(in_ptr1 + (6912 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp879 = tl.load(in_ptr3 + (1948 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp881 = tl.load(in_ptr4 + (54 + 67*y3), ymask, eviction_policy='evict_last')
    tmp886 = tl.load(in_ptr1 + (7040 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp895 = tl.load(in_ptr3 + (1984 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp897 = tl.load(in_ptr4 + (55 + 67*y3), ymask, eviction_policy='evict_last')
    tmp902 = tl.load(in_ptr1 + (7168 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp911 = tl.load(in_ptr3 + (2020 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp913 = tl.load(in_ptr4 + (56 + 67*y3), ymask, eviction_policy='evict_last')
    tmp918 = tl.load(in_ptr1 + (7296 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp927 = tl.load(in_ptr3 + (2056 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp929 = tl.load(in_ptr4 + (57 + 67*y3), ymask, eviction_policy='evict_last')
    tmp934 = tl.load(in_ptr1 + (7424 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp943 = tl.load(in_ptr3 + (2092 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp945 = tl.load(in_ptr4 + (58 + 67*y3), ymask, eviction_policy='evict_last')
    tmp950 = tl.load(in_ptr1 + (7552 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp959 = tl.load(in_ptr3 + (2128 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp961 = tl.load(in_ptr4 + (59 + 67*y3), ymask, eviction_policy='evict_last')
    tmp966 = tl.load(in_ptr1 + (7680 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp975 = tl.load(in_ptr3 + (2164 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp977 = tl.load(in_ptr4 + (60 + 67*y3), ymask, eviction_policy='evict_last')
    tmp982 = tl.load(in_ptr1 + (7808 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp991 = tl.load(in_ptr3 + (2200 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp993 = tl.load(in_ptr4 + (61 + 67*y3), ymask, eviction_policy='evict_last')
    tmp998 = tl.load(in_ptr1 + (7936 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp1007 = tl.load(in_ptr3 + (2236 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp1009 = tl.load(in_ptr4 + (62 + 67*y3), ymask, eviction_policy='evict_last')
    tmp1014 = tl.load(in_ptr1 + (8064 + y0 + 8192*y1), ymask, eviction_policy='evict_last')
    tmp1023 = tl.load(in_ptr3 + (2272 + x2 + 2304*y1), xmask & ymask, eviction_policy='evict_last')
    tmp1025 = tl.load(in_ptr4 + (63 + 67*y3), ymask, eviction_policy='evict_last')
    tmp1 = libdevice.exp(tmp0)
    tmp2 = -tmp1
    tmp5 = tmp3 + tmp4
    tmp6 = 20.0
    tmp7 = tmp5 > tmp6
    tmp8 = libdevice.exp(tmp5)
    tmp9 = libdevice.log1p(tmp8)
    tmp10 = tl.where(tmp7, tmp5, tmp9)
    tmp11 = tmp2 * tmp10
    tmp12 = libdevice.exp(tmp11)
    tmp13 = 0.0
    tmp14 = tmp12 * tmp13
    tmp16 = tmp10 * tmp15
    tmp18 = tl.sigmoid(tmp17)
    tmp19 = tmp17 * tmp18
    tmp20 = tmp16 * tmp19
    tmp21 = tmp14 + tmp20
    tmp23 = tmp22 + tmp4
    tmp24 = tmp23 > tmp6
    tmp25 = libdevice.exp(tmp23)
    tmp26 = libdevice.log1p(tmp25)
    tmp27 = tl.where(tmp24, tmp23, tmp26)
    tmp28 = tmp2 * tmp27
    tmp29 = libdevice.exp(tmp28)
    tmp30 = tmp29 * tmp21
    tmp32 = tmp27 * tmp31
    tmp34 = tl.sigmoid(tmp33)
    tmp35 = tmp33 * tmp34
    tmp36 = tmp32 * tmp35
    tmp37 = tmp30 + tmp36
    tmp39 = tmp38 + tmp4
    tmp40 = tmp39 > tmp6
    tmp41 = libdevice.exp(tmp39)
    tmp42 = libdevice.log1p(tmp41)
    tmp43 = tl.where(tmp40, tmp39, tmp42)
    tmp44 = tmp2 * tmp43
    tmp45 = libdevice.exp(tmp44)
    tmp46 = tmp45 * tmp37
    tmp48 = tmp43 * tmp47
    tmp50 = tl.sigmoid(tmp49)
    tmp51 = tmp49 * tmp50
    tmp52 = tmp48 * tmp51
    tmp53 = tmp46 + tmp52
    tmp55 = tmp54 + tmp4
    tmp56 = tmp55 > tmp6
    tmp57 = libdevice.exp(tmp55)
    tmp58 = libdevice.log1p(tmp57)
    tmp59 = tl.where(tmp56, tmp55, tmp58)
    tmp60 = tmp2 * tmp59
    tmp61 = libdevice.exp(tmp60)
    tmp62 = tmp61 * tmp53
    tmp64 = tmp59 * tmp63
    tmp66 = tl.sigmoid(tmp65)
    tmp67 = tmp65 * tmp66
    tmp68 = tmp64 * tmp67
    tmp69 = tmp62 + tmp68
    tmp71 = tmp70 + tmp4
    tmp72 = tmp71 > tmp6
    tmp73 = libdevice.exp(tmp71)
    tmp74 = libdevice.log1p(tmp73)
    tmp75 = tl.where(tmp72, tmp71, tmp74)
    tmp76 = tmp2 * tmp75
    tmp77 = libdevice.exp(tmp76)
    tmp78 = tmp77 * tmp69
    tmp80 = tmp75 * tmp79
    tmp82 = tl.sigmoid(tmp81)
    tmp83 = tmp81 * tmp82
    tmp84 = tmp80 * tmp83
    tmp85 = tmp78 + tmp84
    tmp87 = tmp86 + tmp4
    tmp88 = tmp87 > tmp6
    tmp89 = libdevice.exp(tmp87)
    tmp90 = libdevice.log1p(tmp89)
    tmp91 = tl.where(tmp88, tmp87, tmp90)
    tmp92 = tmp2 * tmp91
    tmp93 = libdevice.exp(tmp92)
    tmp94 = tmp93 * tmp85
    tmp96 = tmp91 * tmp95
    tmp98 = tl.sigmoid(tmp97)
    tmp99 = tmp97 * tmp98
    tmp100 = tmp96 * tmp99
    tmp101 = tmp94 + tmp100
    tmp103 = tmp102 + tmp4
    tmp104 = tmp103 > tmp6
    tmp105 = libdevice.exp(tmp103)
    tmp106 = libdevice.log1p(tmp105)
    tmp107 = tl.where(tmp104, tmp103, tmp106)
    tmp108 = tmp2 * tmp107
    tmp109 = libdevice.exp(tmp108)
    tmp110 = tmp109 * tmp101
    tmp112 = tmp107 * tmp111
    tmp114 = tl.sigmoid(tmp113)
    tmp115 = tmp113 * tmp114
    tmp116 = tmp112 * tmp115
    tmp117 = tmp110 + tmp116
    tmp119 = tmp118 + tmp4
    tmp120 = tmp119 > tmp6
    tmp121 = libdevice.exp(tmp119)
    tmp122 = libdevice.log1p(tmp121)
    tmp123 = tl.where(tmp120, tmp119, tmp122)
    tmp124 = tmp2 * tmp123
    tmp125 = libdevice.exp(tmp124)
    tmp126 = tmp125 * tmp117
    tmp128 = tmp123 * tmp127
    tmp130 = tl.sigmoid(tmp129)
    tmp131 = tmp129 * tmp130
    tmp132 = tmp128 * tmp131
    tmp133 = tmp126 + tmp132
    tmp135 = tmp134 + tmp4
    tmp136 = tmp135 > tmp6
    tmp137 = libdevice.exp(tmp135)
    tmp138 = libdevice.log1p(tmp137)
    tmp139 = tl.where(tmp136, tmp135, tmp138)
    tmp140 = tmp2 * tmp139
    tmp141 = libdevice.exp(tmp140)
    tmp142 = tmp141 * tmp133
    tmp144 = tmp139 * tmp143
    tmp146 = tl.sigmoid(tmp145)
    tmp147 = tmp145 * tmp146
    tmp148 = tmp144 * tmp147
    tmp149 = tmp142 + tmp148
    tmp151 = tmp150 + tmp4
    tmp152 = tmp151 > tmp6
    tmp153 = libdevice.exp(tmp151)
    tmp154 = libdevice.log1p(tmp153)
    tmp155 = tl.where(tmp152, tmp151, tmp154)
    tmp156 = tmp2 * tmp155
    tmp157 = libdevice.exp(tmp156)
    tmp158 = tmp157 * tmp149
    tmp160 = tmp155 * tmp159
    tmp162 = tl.sigmoid(tmp161)
    tmp163 = tmp161 * tmp162
    tmp164 = tmp160 * tmp163
    tmp165 = tmp158 + tmp164
    tmp167 = tmp166 + tmp4
    tmp168 = tmp167 > tmp6
    tmp169 = libdevice.exp(tmp167)
    tmp170 = libdevice.log1p(tmp169)
    tmp171 = tl.where(tmp168, tmp167, tmp170)
    tmp172 = tmp2 * tmp171
    tmp173 = libdevice.exp(tmp172)
    tmp174 = tmp173 * tmp165
    tmp176 = tmp171 * tmp175
    tmp178 = tl.sigmoid(tmp177)
    tmp179 = tmp177 * tmp178
    tmp180 = tmp176 * tmp179
    tmp181 = tmp174 + tmp180
    tmp183 = tmp182 + tmp4
    tmp184 = tmp183 > tmp6
    tmp185 = libdevice.exp(tmp183)
    tmp186 = libdevice.log1p(tmp185)
    tmp187 = tl.where(tmp184, tmp183, tmp186)
    tmp188 = tmp2 * tmp187
    tmp189 = libdevice.exp(tmp188)
    tmp190 = tmp189 * tmp181
    tmp192 = tmp187 * tmp191
    tmp194 = tl.sigmoid(tmp193)
    tmp195 = tmp193 * tmp194
    tmp196 = tmp192 * tmp195
    tmp197 = tmp190 + tmp196
    tmp199 = tmp198 + tmp4
    tmp200 = tmp199 > tmp6
    tmp201 = libdevice.exp(tmp199)
    tmp202 = libdevice.log1p(tmp201)
    tmp203 = tl.where(tmp200, tmp199, tmp202)
    tmp204 = tmp2 * tmp203
    tmp205 = libdevice.exp(tmp204)
    tmp206 = tmp205 * tmp197
    tmp208 = tmp203 * tmp207
    tmp210 = tl.sigmoid(tmp209)
    tmp211 = tmp209 * tmp210
    tmp212 = tmp208 * tmp211
    tmp213 = tmp206 + tmp212
    tmp215 = tmp214 + tmp4
    tmp216 = tmp215 > tmp6
    tmp217 = libdevice.exp(tmp215)
    tmp218 = libdevice.log1p(tmp217)
    tmp219 = tl.where(tmp216, tmp215, tmp218)
    tmp220 = tmp2 * tmp219
    tmp221 = libdevice.exp(tmp220)
    tmp222 = tmp221 * tmp213
    tmp224 = tmp219 * tmp223
    tmp226 = tl.sigmoid(tmp225)
    tmp227 = tmp225 * tmp226
    tmp228 = tmp224 * tmp227
    tmp229 = tmp222 + tmp228
    tmp231 = tmp230 + tmp4
    tmp232 = tmp231 > tmp6
    tmp233 = libdevice.exp(tmp231)
    tmp234 = libdevice.log1p(tmp233)
    tmp235 = tl.where(tmp232, tmp231, tmp234)
    tmp236 = tmp2 * tmp235
    tmp237 = libdevice.exp(tmp236)
    tmp238 = tmp237 * tmp229
    tmp240 = tmp235 * tmp239
    tmp242 = tl.sigmoid(tmp241)
    tmp243 = tmp241 * tmp242
    tmp244 = tmp240 * tmp243
    tmp245 = tmp238 + tmp244
    tmp247 = tmp246 + tmp4
    tmp248 = tmp247 > tmp6
    tmp249 = libdevice.exp(tmp247)
    tmp250 = libdevice.log1p(tmp249)
    tmp251 = tl.where(tmp248, tmp247, tmp250)
    tmp252 = tmp2 * tmp251
    tmp253 = libdevice.exp(tmp252)
    tmp254 = tmp253 * tmp245
    tmp256 = tmp251 * tmp255
    tmp258 = tl.sigmoid(tmp257)
    tmp259 = tmp257 * tmp258
    tmp260 = tmp256 * tmp259
    tmp261 = tmp254 + tmp260
    tmp263 = tmp262 + tmp4
    tmp264 = tmp263 > tmp6
    tmp265 = libdevice.exp(tmp263)
    tmp266 = libdevice.log1p(tmp265)
    tmp267 = tl.where(tmp264, tmp263, tmp266)
    tmp268 = tmp2 * tmp267
    tmp269 = libdevice.exp(tmp268)
    tmp270 = tmp269 * tmp261
    tmp272 = tmp267 * tmp271
    tmp274 = tl.sigmoid(tmp273)
    tmp275 = tmp273 * tmp274
    tmp276 = tmp272 * tmp275
    tmp277 = tmp270 + tmp276
    tmp279 = tmp278 + tmp4
    tmp280 = tmp279 > tmp6
    tmp281 = libdevice.exp(tmp279)
    tmp282 = libdevice.log1p(tmp281)
    tmp283 = tl.where(tmp280, tmp279, tmp282)
    tmp284 = tmp2 * tmp283
    tmp285 = libdevice.exp(tmp284)
    tmp286 = tmp285 * tmp277
    tmp288 = tmp283 * tmp287
    tmp290 = tl.sigmoid(tmp289)
    tmp291 = tmp289 * tmp290
    tmp292 = tmp288 * tmp291
    tmp293 = tmp286 + tmp292
    tmp295 = tmp294 + tmp4
    tmp296 = tmp295 > tmp6
    tmp297 = libdevice.exp(tmp295)
    tmp298 = libdevice.log1p(tmp297)
    tmp299 = tl.where(tmp296, tmp295, tmp298)
    tmp300 = tmp2 * tmp299
    tmp301 = libdevice.exp(tmp300)
    tmp302 = tmp301 * tmp293
    tmp304 = tmp299 * tmp303
    tmp306 = tl.sigmoid(tmp305)
    tmp307 = tmp305 * tmp306
    tmp308 = tmp304 * tmp307
    tmp309 = tmp302 + tmp308
    tmp311 = tmp310 + tmp4
    tmp312 = tmp311 > tmp6
    tmp313 = libdevice.exp(tmp311)
    tmp314 = libdevice.log1p(tmp313)
    tmp315 = tl.where(tmp312, tmp311, tmp314)
    tmp316 = tmp2 * tmp315
    tmp317 = libdevice.exp(tmp316)
    tmp318 = tmp317 * tmp309
    tmp320 = tmp315 * tmp319
    tmp322 = tl.sigmoid(tmp321)
    tmp323 = tmp321 * tmp322
    tmp324 = tmp320 * tmp323
    tmp325 = tmp318 + tmp324
    tmp327 = tmp326 + tmp4
    tmp328 = tmp327 > tmp6
    tmp329 = libdevice.exp(tmp327)
    tmp330 = libdevice.log1p(tmp329)
    tmp331 = tl.where(tmp328, tmp327, tmp330)
    tmp332 = tmp2 * tmp331
    tmp333 = libdevice.exp(tmp332)
    tmp334 = tmp333 * tmp325
    tmp336 = tmp331 * tmp335
    tmp338 = tl.sigmoid(tmp337)
    tmp339 = tmp337 * tmp338
    tmp340 = tmp336 * tmp339
    tmp341 = tmp334 + tmp340
    tmp343 = tmp342 + tmp4
    tmp344 = tmp343 > tmp6
    tmp345 = libdevice.exp(tmp343)
    tmp346 = libdevice.log1p(tmp345)
    tmp347 = tl.where(tmp344, tmp343, tmp346)
    tmp348 = tmp2 * tmp347
    tmp349 = libdevice.exp(tmp348)
    tmp350 = tmp349 * tmp341
    tmp352 = tmp347 * tmp351
    tmp354 = tl.sigmoid(tmp353)
    tmp355 = tmp353 * tmp354
    tmp356 = tmp352 * tmp355
    tmp357 = tmp350 + tmp356
    tmp359 = tmp358 + tmp4
    tmp360 = tmp359 > tmp6
    tmp361 = libdevice.exp(tmp359)
    tmp362 = libdevice.log1p(tmp361)
    tmp363 = tl.where(tmp360, tmp359, tmp362)
    tmp364 = tmp2 * tmp363
    tmp365 = libdevice.exp(tmp364)
    tmp366 = tmp365 * tmp357
    tmp368 = tmp363 * tmp367
    tmp370 = tl.sigmoid(tmp369)
    tmp371 = tmp369 * tmp370
    tmp372 = tmp368 * tmp371
    tmp373 = tmp366 + tmp372
    tmp375 = tmp374 + tmp4
    tmp376 = tmp375 > tmp6
    tmp377 = libdevice.exp(tmp375)
    tmp378 = libdevice.log1p(tmp377)
    tmp379 = tl.where(tmp376, tmp375, tmp378)
    tmp380 = tmp2 * tmp379
    tmp381 = libdevice.exp(tmp380)
    tmp382 = tmp381 * tmp373
    tmp384 = tmp379 * tmp383
    tmp386 = tl.sigmoid(tmp385)
    tmp387 = tmp385 * tmp386
    tmp388 = tmp384 * tmp387
    tmp389 = tmp382 + tmp388
    tmp391 = tmp390 + tmp4
    tmp392 = tmp391 > tmp6
    tmp393 = libdevice.exp(tmp391)
    tmp394 = libdevice.log1p(tmp393)
    tmp395 = tl.where(tmp392, tmp391, tmp394)
    tmp396 = tmp2 * tmp395
    tmp397 = libdevice.exp(tmp396)
    tmp398 = tmp397 * tmp389
    tmp400 = tmp395 * tmp399
    tmp402 = tl.sigmoid(tmp401)
    tmp403 = tmp401 * tmp402
    tmp404 = tmp400 * tmp403
    tmp405 = tmp398 + tmp404
    tmp407 = tmp406 + tmp4
    tmp408 = tmp407 > tmp6
    tmp409 = libdevice.exp(tmp407)
    tmp410 = libdevice.log1p(tmp409)
    tmp411 = tl.where(tmp408, tmp407, tmp410)
    tmp412 = tmp2 * tmp411
    tmp413 = libdevice.exp(tmp412)
    tmp414 = tmp413 * tmp405
    tmp416 = tmp411 * tmp415
    tmp418 = tl.sigmoid(tmp417)
    tmp419 = tmp417 * tmp418
    tmp420 = tmp416 * tmp419
    tmp421 = tmp414 + tmp420
    tmp423 = tmp422 + tmp4
    tmp424 = tmp423 > tmp6
    tmp425 = libdevice.exp(tmp423)
    tmp426 = libdevice.log1p(tmp425)
    tmp427 = tl.where(tmp424, tmp423, tmp426)
    tmp428 = tmp2 * tmp427
    tmp429 = libdevice.exp(tmp428)
    tmp430 = tmp429 * tmp421
    tmp432 = tmp427 * tmp431
    tmp434 = tl.sigmoid(tmp433)
    tmp435 = tmp433 * tmp434
    tmp436 = tmp432 * tmp435
    tmp437 = tmp430 + tmp436
    tmp439 = tmp438 + tmp4
    tmp440 = tmp439 > tmp6
    tmp441 = libdevice.exp(tmp439)
    tmp442 = libdevice.log1p(tmp441)
    tmp443 = tl.where(tmp440, tmp439, tmp442)
    tmp444 = tmp2 * tmp443
    tmp445 = libdevice.exp(tmp444)
    tmp446 = tmp445 * tmp437
    tmp448 = tmp443 * tmp447
    tmp450 = tl.sigmoid(tmp449)
    tmp451 = tmp449 * tmp450
    tmp452 = tmp448 * tmp451
    tmp453 = tmp446 + tmp452
    tmp455 = tmp454 + tmp4
    tmp456 = tmp455 > tmp6
    tmp457 = libdevice.exp(tmp455)
    tmp458 = libdevice.log1p(tmp457)
    tmp459 = tl.where(tmp456, tmp455, tmp458)
    tmp460 = tmp2 * tmp459
    tmp461 = libdevice.exp(tmp460)
    tmp462 = tmp461 * tmp453
    tmp464 = tmp459 * tmp463
    tmp466 = tl.sigmoid(tmp465)
    tmp467 = tmp465 * tmp466
    tmp468 = tmp464 * tmp467
    tmp469 = tmp462 + tmp468
    tmp471 = tmp470 + tmp4
    tmp472 = tmp471 > tmp6
    tmp473 = libdevice.exp(tmp471)
    tmp474 = libdevice.log1p(tmp473)
    tmp475 = tl.where(tmp472, tmp471, tmp474)
    tmp476 = tmp2 * tmp475
    tmp477 = libdevice.exp(tmp476)
    tmp478 = tmp477 * tmp469
    tmp480 = tmp475 * tmp479
    tmp482 = tl.sigmoid(tmp481)
    tmp483 = tmp481 * tmp482
    tmp484 = tmp480 * tmp483
    tmp485 = tmp478 + tmp484
    tmp487 = tmp486 + tmp4
    tmp488 = tmp487 > tmp6
    tmp489 = libdevice.exp(tmp487)
    tmp490 = libdevice.log1p(tmp489)
    tmp491 = tl.where(tmp488, tmp487, tmp490)
    tmp492 = tmp2 * tmp491
    tmp493 = libdevice.exp(tmp492)
    tmp494 = tmp493 * tmp485
    tmp496 = tmp491 * tmp495
    tmp498 = tl.sigmoid(tmp497)
    tmp499 = tmp497 * tmp498
    tmp500 = tmp496 * tmp499
    tmp501 = tmp494 + tmp500
    tmp503 = tmp502 + tmp4
    tmp504 = tmp503 > tmp6
    tmp505 = libdevice.exp(tmp503)
    tmp506 = libdevice.log1p(tmp505)
    tmp507 = tl.where(tmp504, tmp503, tmp506)
    tmp508 = tmp2 * tmp507
    tmp509 = libdevice.exp(tmp508)
    tmp510 = tmp509 * tmp501
    tmp512 = tmp507 * tmp511
    tmp514 = tl.sigmoid(tmp513)
    tmp515 = tmp513 * tmp514
    tmp516 = tmp512 * tmp515
    tmp517 = tmp510 + tmp516
    tmp519 = tmp518 + tmp4
    tmp520 = tmp519 > tmp6
    tmp521 = libdevice.exp(tmp519)
    tmp522 = libdevice.log1p(tmp521)
    tmp523 = tl.where(tmp520, tmp519, tmp522)
    tmp524 = tmp2 * tmp523
    tmp525 = libdevice.exp(tmp524)
    tmp526 = tmp525 * tmp517
    tmp528 = tmp523 * tmp527
    tmp530 = tl.sigmoid(tmp529)
    tmp531 = tmp529 * tmp530
    tmp532 = tmp528 * tmp531
    tmp533 = tmp526 + tmp532
    tmp535 = tmp534 + tmp4
    tmp536 = tmp535 > tmp6
    tmp537 = libdevice.exp(tmp535)
    tmp538 = libdevice.log1p(tmp537)
    tmp539 = tl.where(tmp536, tmp535, tmp538)
    tmp540 = tmp2 * tmp539
    tmp541 = libdevice.exp(tmp540)
    tmp542 = tmp541 * tmp533
    tmp544 = tmp539 * tmp543
    tmp546 = tl.sigmoid(tmp545)
    tmp547 = tmp545 * tmp546
    tmp548 = tmp544 * tmp547
    tmp549 = tmp542 + tmp548
    tmp551 = tmp550 + tmp4
    tmp552 = tmp551 > tmp6
    tmp553 = libdevice.exp(tmp551)
    tmp554 = libdevice.log1p(tmp553)
    tmp555 = tl.where(tmp552, tmp551, tmp554)
    tmp556 = tmp2 * tmp555
    tmp557 = libdevice.exp(tmp556)
    tmp558 = tmp557 * tmp549
    tmp560 = tmp555 * tmp559
    tmp562 = tl.sigmoid(tmp561)
    tmp563 = tmp561 * tmp562
    tmp564 = tmp560 * tmp563
    tmp565 = tmp558 + tmp564
    tmp567 = tmp566 + tmp4
    tmp568 = tmp567 > tmp6
    tmp569 = libdevice.exp(tmp567)
    tmp570 = libdevice.log1p(tmp569)
    tmp571 = tl.where(tmp568, tmp567, tmp570)
    tmp572 = tmp2 * tmp571
    tmp573 = libdevice.exp(tmp572)
    tmp574 = tmp573 * tmp565
    tmp576 = tmp571 * tmp575
    tmp578 = tl.sigmoid(tmp577)
    tmp579 = tmp577 * tmp578
    tmp580 = tmp576 * tmp579
    tmp581 = tmp574 + tmp580
    tmp583 = tmp582 + tmp4
    tmp584 = tmp583 > tmp6
    tmp585 = libdevice.exp(tmp583)
    tmp586 = libdevice.log1p(tmp585)
    tmp587 = tl.where(tmp584, tmp583, tmp586)
    tmp588 = tmp2 * tmp587
    tmp589 = libdevice.exp(tmp588)
    tmp590 = tmp589 * tmp581
    tmp592 = tmp587 * tmp591
    tmp594 = tl.sigmoid(tmp593)
    tmp595 = tmp593 * tmp594
    tmp596 = tmp592 * tmp595
    tmp597 = tmp590 + tmp596
    tmp599 = tmp598 + tmp4
    tmp600 = tmp599 > tmp6
    tmp601 = libdevice.exp(tmp599)
    tmp602 = libdevice.log1p(tmp601)
    tmp603 = tl.where(tmp600, tmp599, tmp602)
    tmp604 = tmp2 * tmp603
    tmp605 = libdevice.exp(tmp604)
    tmp606 = tmp605 * tmp597
    tmp608 = tmp603 * tmp607
    tmp610 = tl.sigmoid(tmp609)
    tmp611 = tmp609 * tmp610
    tmp612 = tmp608 * tmp611
    tmp613 = tmp606 + tmp612
    tmp615 = tmp614 + tmp4
    tmp616 = tmp615 > tmp6
    tmp617 = libdevice.exp(tmp615)
    tmp618 = libdevice.log1p(tmp617)
    tmp619 = tl.where(tmp616, tmp615, tmp618)
    tmp620 = tmp2 * tmp619
    tmp621 = libdevice.exp(tmp620)
    tmp622 = tmp621 * tmp613
    tmp624 = tmp619 * tmp623
    tmp626 = tl.sigmoid(tmp625)
    tmp627 = tmp625 * tmp626
    tmp628 = tmp624 * tmp627
    tmp629 = tmp622 + tmp628
    tmp631 = tmp630 + tmp4
    tmp632 = tmp631 > tmp6
    tmp633 = libdevice.exp(tmp631)
    tmp634 = libdevice.log1p(tmp633)
    tmp635 = tl.where(tmp632, tmp631, tmp634)
    tmp636 = tmp2 * tmp635
    tmp637 = libdevice.exp(tmp636)
    tmp638 = tmp637 * tmp629
    tmp640 = tmp635 * tmp639
    tmp642 = tl.sigmoid(tmp641)
    tmp643 = tmp641 * tmp642
    tmp644 = tmp640 * tmp643
    tmp645 = tmp638 + tmp644
    tmp647 = tmp646 + tmp4
    tmp648 = tmp647 > tmp6
    tmp649 = libdevice.exp(tmp647)
    tmp650 = libdevice.log1p(tmp649)
    tmp651 = tl.where(tmp648, tmp647, tmp650)
    tmp652 = tmp2 * tmp651
    tmp653 = libdevice.exp(tmp652)
    tmp654 = tmp653 * tmp645
    tmp656 = tmp651 * tmp655
    tmp658 = tl.sigmoid(tmp657)
    tmp659 = tmp657 * tmp658
    tmp660 = tmp656 * tmp659
    tmp661 = tmp654 + tmp660
    tmp663 = tmp662 + tmp4
    tmp664 = tmp663 > tmp6
    tmp665 = libdevice.exp(tmp663)
    tmp666 = libdevice.log1p(tmp665)
    tmp667 = tl.where(tmp664, tmp663, tmp666)
    tmp668 = tmp2 * tmp667
    tmp669 = libdevice.exp(tmp668)
    tmp670 = tmp669 * tmp661
    tmp672 = tmp667 * tmp671
    tmp674 = tl.sigmoid(tmp673)
    tmp675 = tmp673 * tmp674
    tmp676 = tmp672 * tmp675
    tmp677 = tmp670 + tmp676
    tmp679 = tmp678 + tmp4
    tmp680 = tmp679 > tmp6
    tmp681 = libdevice.exp(tmp679)
    tmp682 = libdevice.log1p(tmp681)
    tmp683 = tl.where(tmp680, tmp679, tmp682)
    tmp684 = tmp2 * tmp683
    tmp685 = libdevice.exp(tmp684)
    tmp686 = tmp685 * tmp677
    tmp688 = tmp683 * tmp687
    tmp690 = tl.sigmoid(tmp689)
    tmp691 = tmp689 * tmp690
    tmp692 = tmp688 * tmp691
    tmp693 = tmp686 + tmp692
    tmp695 = tmp694 + tmp4
    tmp696 = tmp695 > tmp6
    tmp697 = libdevice.exp(tmp695)
    tmp698 = libdevice.log1p(tmp697)
    tmp699 = tl.where(tmp696, tmp695, tmp698)
    tmp700 = tmp2 * tmp699
    tmp701 = libdevice.exp(tmp700)
    tmp702 = tmp701 * tmp693
    tmp704 = tmp699 * tmp703
    tmp706 = tl.sigmoid(tmp705)
    tmp707 = tmp705 * tmp706
    tmp708 = tmp704 * tmp707
    tmp709 = tmp702 + tmp708
    tmp711 = tmp710 + tmp4
    tmp712 = tmp711 > tmp6
    tmp713 = libdevice.exp(tmp711)
    tmp714 = libdevice.log1p(tmp713)
    tmp715 = tl.where(tmp712, tmp711, tmp714)
    tmp716 = tmp2 * tmp715
    tmp717 = libdevice.exp(tmp716)
    tmp718 = tmp717 * tmp709
    tmp720 = tmp715 * tmp719
    tmp722 = tl.sigmoid(tmp721)
    tmp723 = tmp721 * tmp722
    tmp724 = tmp720 * tmp723
    tmp725 = tmp718 + tmp724
    tmp727 = tmp726 + tmp4
    tmp728 = tmp727 > tmp6
    tmp729 = libdevice.exp(tmp727)
    tmp730 = libdevice.log1p(tmp729)
    tmp731 = tl.where(tmp728, tmp727, tmp730)
    tmp732 = tmp2 * tmp731
    tmp733 = libdevice.exp(tmp732)
    tmp734 = tmp733 * tmp725
    tmp736 = tmp731 * tmp735
    tmp738 = tl.sigmoid(tmp737)
    tmp739 = tmp737 * tmp738
    tmp740 = tmp736 * tmp739
    tmp741 = tmp734 + tmp740
    tmp743 = tmp742 + tmp4
    tmp744 = tmp743 > tmp6
    tmp745 = libdevice.exp(tmp743)
    tmp746 = libdevice.log1p(tmp745)
    tmp747 = tl.where(tmp744, tmp743, tmp746)
    tmp748 = tmp2 * tmp747
    tmp749 = libdevice.exp(tmp748)
    tmp750 = tmp749 * tmp741
    tmp752 = tmp747 * tmp751
    tmp754 = tl.sigmoid(tmp753)
    tmp755 = tmp753 * tmp754
    tmp756 = tmp752 * tmp755
    tmp757 = tmp750 + tmp756
    tmp759 = tmp758 + tmp4
    tmp760 = tmp759 > tmp6
    tmp761 = libdevice.exp(tmp759)
    tmp762 = libdevice.log1p(tmp761)
    tmp763 = tl.where(tmp760, tmp759, tmp762)
    tmp764 = tmp2 * tmp763
    tmp765 = libdevice.exp(tmp764)
    tmp766 = tmp765 * tmp757
    tmp768 = tmp763 * tmp767
    tmp770 = tl.sigmoid(tmp769)
    tmp771 = tmp769 * tmp770
    tmp772 = tmp768 * tmp771
    tmp773 = tmp766 + tmp772
    tmp775 = tmp774 + tmp4
    tmp776 = tmp775 > tmp6
    tmp777 = libdevice.exp(tmp775)
    tmp778 = libdevice.log1p(tmp777)
    tmp779 = tl.where(tmp776, tmp775, tmp778)
    tmp780 = tmp2 * tmp779
    tmp781 = libdevice.exp(tmp780)
    tmp782 = tmp781 * tmp773
    tmp784 = tmp779 * tmp783
    tmp786 = tl.sigmoid(tmp785)
    tmp787 = tmp785 * tmp786
    tmp788 = tmp784 * tmp787
    tmp789 = tmp782 + tmp788
    tmp791 = tmp790 + tmp4
    tmp792 = tmp791 > tmp6
    tmp793 = libdevice.exp(tmp791)
    tmp794 = libdevice.log1p(tmp793)
    tmp795 = tl.where(tmp792, tmp791, tmp794)
    tmp796 = tmp2 * tmp795
    tmp797 = libdevice.exp(tmp796)
    tmp798 = tmp797 * tmp789
    tmp800 = tmp795 * tmp799
    tmp802 = tl.sigmoid(tmp801)
    tmp803 = tmp801 * tmp802
    tmp804 = tmp800 * tmp803
    tmp805 = tmp798 + tmp804
    tmp807 = tmp806 + tmp4
    tmp808 = tmp807 > tmp6
    tmp809 = libdevice.exp(tmp807)
    tmp810 = libdevice.log1p(tmp809)
    tmp811 = tl.where(tmp808, tmp807, tmp810)
    tmp812 = tmp2 * tmp811
    tmp813 = libdevice.exp(tmp812)
    tmp814 = tmp813 * tmp805
    tmp816 = tmp811 * tmp815
    tmp818 = tl.sigmoid(tmp817)
    tmp819 = tmp817 * tmp818
    tmp820 = tmp816 * tmp819
    tmp821 = tmp814 + tmp820
    tmp823 = tmp822 + tmp4
    tmp824 = tmp823 > tmp6
    tmp825 = libdevice.exp(tmp823)
    tmp826 = libdevice.log1p(tmp825)
    tmp827 = tl.where(tmp824, tmp823, tmp826)
    tmp828 = tmp2 * tmp827
    tmp829 = libdevice.exp(tmp828)
    tmp830 = tmp829 * tmp821
    tmp832 = tmp827 * tmp831
    tmp834 = tl.sigmoid(tmp833)
    tmp835 = tmp833 * tmp834
    tmp836 = tmp832 * tmp835
    tmp837 = tmp830 + tmp836
    tmp839 = tmp838 + tmp4
    tmp840 = tmp839 > tmp6
    tmp841 = libdevice.exp(tmp839)
    tmp842 = libdevice.log1p(tmp841)
    tmp843 = tl.where(tmp840, tmp839, tmp842)
    tmp844 = tmp2 * tmp843
    tmp845 = libdevice.exp(tmp844)
    tmp846 = tmp845 * tmp837
    tmp848 = tmp843 * tmp847
    tmp850 = tl.sigmoid(tmp849)
    tmp851 = tmp849 * tmp850
    tmp852 = tmp848 * tmp851
    tmp853 = tmp846 + tmp852
    tmp855 = tmp854 + tmp4
    tmp856 = tmp855 > tmp6
    tmp857 = libdevice.exp(tmp855)
    tmp858 = libdevice.log1p(tmp857)
    tmp859 = tl.where(tmp856, tmp855, tmp858)
    tmp860 = tmp2 * tmp859
    tmp861 = libdevice.exp(tmp860)
    tmp862 = tmp861 * tmp853
    tmp864 = tmp859 * tmp863
    tmp866 = tl.sigmoid(tmp865)
    tmp867 = tmp865 * tmp866
    tmp868 = tmp864 * tmp867
    tmp869 = tmp862 + tmp868
    tmp871 = tmp870 + tmp4
    tmp872 = tmp871 > tmp6
    tmp873 = libdevice.exp(tmp871)
    tmp874 = libdevice.log1p(tmp873)
    tmp875 = tl.where(tmp872, tmp871, tmp874)
    tmp876 = tmp2 * tmp875
    tmp877 = libdevice.exp(tmp876)
    tmp878 = tmp877 * tmp869
    tmp880 = tmp875 * tmp879
    tmp882 = tl.sigmoid(tmp881)
    tmp883 = tmp881 * tmp882
    tmp884 = tmp880 * tmp883
    tmp885 = tmp878 + tmp884
    tmp887 = tmp886 + tmp4
    tmp888 = tmp887 > tmp6
    tmp889 = libdevice.exp(tmp887)
    tmp890 = libdevice.log1p(tmp889)
    tmp891 = tl.where(tmp888, tmp887, tmp890)
    tmp892 = tmp2 * tmp891
    tmp893 = libdevice.exp(tmp892)
    tmp894 = tmp893 * tmp885
    tmp896 = tmp891 * tmp895
    tmp898 = tl.sigmoid(tmp897)
    tmp899 = tmp897 * tmp898
    tmp900 = tmp896 * tmp899
    tmp901 = tmp894 + tmp900
    tmp903 = tmp902 + tmp4
    tmp904 = tmp903 > tmp6
    tmp905 = libdevice.exp(tmp903)
    tmp906 = libdevice.log1p(tmp905)
    tmp907 = tl.where(tmp904, tmp903, tmp906)
    tmp908 = tmp2 * tmp907
    tmp909 = libdevice.exp(tmp908)
    tmp910 = tmp909 * tmp901
    tmp912 = tmp907 * tmp911
    tmp914 = tl.sigmoid(tmp913)
    tmp915 = tmp913 * tmp914
    tmp916 = tmp912 * tmp915
    tmp917 = tmp910 + tmp916
    tmp919 = tmp918 + tmp4
    tmp920 = tmp919 > tmp6
    tmp921 = libdevice.exp(tmp919)
    tmp922 = libdevice.log1p(tmp921)
    tmp923 = tl.where(tmp920, tmp919, tmp922)
    tmp924 = tmp2 * tmp923
    tmp925 = libdevice.exp(tmp924)
    tmp926 = tmp925 * tmp917
    tmp928 = tmp923 * tmp927
    tmp930 = tl.sigmoid(tmp929)
    tmp931 = tmp929 * tmp930
    tmp932 = tmp928 * tmp931
    tmp933 = tmp926 + tmp932
    tmp935 = tmp934 + tmp4
    tmp936 = tmp935 > tmp6
    tmp937 = libdevice.exp(tmp935)
    tmp938 = libdevice.log1p(tmp937)
    tmp939 = tl.where(tmp936, tmp935, tmp938)
    tmp940 = tmp2 * tmp939
    tmp941 = libdevice.exp(tmp940)
    tmp942 = tmp941 * tmp933
    tmp944 = tmp939 * tmp943
    tmp946 = tl.sigmoid(tmp945)
    tmp947 = tmp945 * tmp946
    tmp948 = tmp944 * tmp947
    tmp949 = tmp942 + tmp948
    tmp951 = tmp950 + tmp4
    tmp952 = tmp951 > tmp6
    tmp953 = libdevice.exp(tmp951)
    tmp954 = libdevice.log1p(tmp953)
    tmp955 = tl.where(tmp952, tmp951, tmp954)
    tmp956 = tmp2 * tmp955
    tmp957 = libdevice.exp(tmp956)
    tmp958 = tmp957 * tmp949
    tmp960 = tmp955 * tmp959
    tmp962 = tl.sigmoid(tmp961)
    tmp963 = tmp961 * tmp962
    tmp964 = tmp960 * tmp963
    tmp965 = tmp958 + tmp964
    tmp967 = tmp966 + tmp4
    tmp968 = tmp967 > tmp6
    tmp969 = libdevice.exp(tmp967)
    tmp970 = libdevice.log1p(tmp969)
    tmp971 = tl.where(tmp968, tmp967, tmp970)
    tmp972 = tmp2 * tmp971
    tmp973 = libdevice.exp(tmp972)
    tmp974 = tmp973 * tmp965
    tmp976 = tmp971 * tmp975
    tmp978 = tl.sigmoid(tmp977)
    tmp979 = tmp977 * tmp978
    tmp980 = tmp976 * tmp979
    tmp981 = tmp974 + tmp980
    tmp983 = tmp982 + tmp4
    tmp984 = tmp983 > tmp6
    tmp985 = libdevice.exp(tmp983)
    tmp986 = libdevice.log1p(tmp985)
    tmp987 = tl.where(tmp984, tmp983, tmp986)
    tmp988 = tmp2 * tmp987
    tmp989 = libdevice.exp(tmp988)
    tmp990 = tmp989 * tmp981
    tmp992 = tmp987 * tmp991
    tmp994 = tl.sigmoid(tmp993)
    tmp995 = tmp993 * tmp994
    tmp996 = tmp992 * tmp995
    tmp997 = tmp990 + tmp996
    tmp999 = tmp998 + tmp4
    tmp1000 = tmp999 > tmp6
    tmp1001 = libdevice.exp(tmp999)
    tmp1002 = libdevice.log1p(tmp1001)
    tmp1003 = tl.where(tmp1000, tmp999, tmp1002)
    tmp1004 = tmp2 * tmp1003
    tmp1005 = libdevice.exp(tmp1004)
    tmp1006 = tmp1005 * tmp997
    tmp1008 = tmp1003 * tmp1007
    tmp1010 = tl.sigmoid(tmp1009)
    tmp1011 = tmp1009 * tmp1010
    tmp1012 = tmp1008 * tmp1011
    tmp1013 = tmp1006 + tmp1012
    tmp1015 = tmp1014 + tmp4
    tmp1016 = tmp1015 > tmp6
    tmp1017 = libdevice.exp(tmp1015)
    tmp1018 = libdevice.log1p(tmp1017)
    tmp1019 = tl.where(tmp1016, tmp1015, tmp1018)
    tmp1020 = tmp2 * tmp1019
    tmp1021 = libdevice.exp(tmp1020)
    tmp1022 = tmp1021 * tmp1013
    tmp1024 = tmp1019 * tmp1023
    tmp1026 = tl.sigmoid(tmp1025)
    tmp1027 = tmp1025 * tmp1026
    tmp1028 = tmp1024 * tmp1027
    tmp1029 = tmp1022 + tmp1028
    tl.store(out_ptr0 + (x2 + 16*y3), tmp21, xmask & ymask)
    tl.store(out_ptr1 + (x2 + 16*y3), tmp37, xmask & ymask)
    tl.store(out_ptr2 + (x2 + 16*y3), tmp53, xmask & ymask)
    tl.store(out_ptr3 + (x2 + 16*y3), tmp69, xmask & ymask)
    tl.store(out_ptr4 + (x2 + 16*y3), tmp85, xmask & ymask)
    tl.store(out_ptr5 + (x2 + 16*y3), tmp101, xmask & ymask)
    tl.store(out_ptr6 + (x2 + 16*y3), tmp117, xmask & ymask)
    tl.store(out_ptr7 + (x2 + 16*y3), tmp133, xmask & ymask)
    tl.store(out_ptr8 + (x2 + 16*y3), tmp149, xmask & ymask)
    tl.store(out_ptr9 + (x2 + 16*y3), tmp165, xmask & ymask)
    tl.store(out_ptr10 + (x2 + 16*y3), tmp181, xmask & ymask)
    tl.store(out_ptr11 + (x2 + 16*y3), tmp197, xmask & ymask)
    tl.store(out_ptr12 + (x2 + 16*y3), tmp213, xmask & ymask)
    tl.store(out_ptr13 + (x2 + 16*y3), tmp229, xmask & ymask)
    tl.store(out_ptr14 + (x2 + 16*y3), tmp245, xmask & ymask)
    tl.store(out_ptr15 + (x2 + 16*y3), tmp261, xmask & ymask)
    tl.store(out_ptr16 + (x2 + 16*y3), tmp277, xmask & ymask)
    tl.store(out_ptr17 + (x2 + 16*y3), tmp293, xmask & ymask)
    tl.store(out_ptr18 + (x2 + 16*y3), tmp309, xmask & ymask)
    tl.store(out_ptr19 + (x2 + 16*y3), tmp325, xmask & ymask)
    tl.store(out_ptr20 + (x2 + 16*y3), tmp341, xmask & ymask)
    tl.store(out_ptr21 + (x2 + 16*y3), tmp357, xmask & ymask)
    tl.store(out_ptr22 + (x2 + 16*y3), tmp373, xmask & ymask)
    tl.store(out_ptr23 + (x2 + 16*y3), tmp389, xmask & ymask)
    tl.store(out_ptr24 + (x2 + 16*y3), tmp405, xmask & ymask)
    tl.store(out_ptr25 + (x2 + 16*y3), tmp421, xmask & ymask)
    tl.store(out_ptr26 + (x2 + 16*y3), tmp437, xmask & ymask)
    tl.store(out_ptr27 + (x2 + 16*y3), tmp453, xmask & ymask)
    tl.store(out_ptr28 + (x2 + 16*y3), tmp469, xmask & ymask)
    tl.store(out_ptr29 + (x2 + 16*y3), tmp485, xmask & ymask)
    tl.store(out_ptr30 + (x2 + 16*y3), tmp501, xmask & ymask)
    tl.store(out_ptr31 + (x2 + 16*y3), tmp517, xmask & ymask)
    tl.store(out_ptr32 + (x2 + 16*y3), tmp533, xmask & ymask)
    tl.store(out_ptr33 + (x2 + 16*y3), tmp549, xmask & ymask)
    tl.store(out_ptr34 + (x2 + 16*y3), tmp565, xmask & ymask)
    tl.store(out_ptr35 + (x2 + 16*y3), tmp581, xmask & ymask)
    tl.store(out_ptr36 + (x2 + 16*y3), tmp597, xmask & ymask)
    tl.store(out_ptr37 + (x2 + 16*y3), tmp613, xmask & ymask)
    tl.store(out_ptr38 + (x2 + 16*y3), tmp629, xmask & ymask)
    tl.store(out_ptr39 + (x2 + 16*y3), tmp645, xmask & ymask)
    tl.store(out_ptr40 + (x2 + 16*y3), tmp661, xmask & ymask)
    tl.store(out_ptr41 + (x2 + 16*y3), tmp677, xmask & ymask)
    tl.store(out_ptr42 + (x2 + 16*y3), tmp693, xmask & ymask)
    tl.store(out_ptr43 + (x2 + 16*y3), tmp709, xmask & ymask)
    tl.store(out_ptr44 + (x2 + 16*y3), tmp725, xmask & ymask)
    tl.store(out_ptr45 + (x2 + 16*y3), tmp741, xmask & ymask)
    tl.store(out_ptr46 + (x2 + 16*y3), tmp757, xmask & ymask)
    tl.store(out_ptr47 + (x2 + 16*y3), tmp773, xmask & ymask)
    tl.store(out_ptr48 + (x2 + 16*y3), tmp789, xmask & ymask)
    tl.store(out_ptr49 + (x2 + 16*y3), tmp805, xmask & ymask)
    tl.store(out_ptr50 + (x2 + 16*y3), tmp821, xmask & ymask)
    tl.store(out_ptr51 + (x2 + 16*y3), tmp837, xmask & ymask)
    tl.store(out_ptr52 + (x2 + 16*y3), tmp853, xmask & ymask)
    tl.store(out_ptr53 + (x2 + 16*y3), tmp869, xmask & ymask)
    tl.store(out_ptr54 + (x2 + 16*y3), tmp885, xmask & ymask)
    tl.store(out_ptr55 + (x2 + 16*y3), tmp901, xmask & ymask)
    tl.store(out_ptr56 + (x2 + 16*y3), tmp917, xmask & ymask)
    tl.store(out_ptr57 + (x2 + 16*y3), tmp933, xmask & ymask)
    tl.store(out_ptr58 + (x2 + 16*y3), tmp949, xmask & ymask)
    tl.store(out_ptr59 + (x2 + 16*y3), tmp965, xmask & ymask)
    tl.store(out_ptr60 + (x2 + 16*y3), tmp981, xmask & ymask)
    tl.store(out_ptr61 + (x2 + 16*y3), tmp997, xmask & ymask)
    tl.store(out_ptr62 + (x2 + 16*y3), tmp1013, xmask & ymask)
    tl.store(out_ptr63 + (x2 + 16*y3), tmp1029, xmask & ymask)
