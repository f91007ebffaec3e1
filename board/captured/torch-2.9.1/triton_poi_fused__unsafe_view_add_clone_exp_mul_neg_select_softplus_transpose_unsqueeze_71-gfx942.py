import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def triton_poi_fused__unsafe_view_add_clone_exp_mul_neg_select_softplus_transpose_unsqueeze_71(in_out_ptr0, in_out_ptr1, in_out_ptr2, in_out_ptr3, in_out_ptr4, in_out_ptr5, in_out_ptr6, in_out_ptr7, in_out_ptr8, in_out_ptr9, in_out_ptr10, in_out_ptr11, in_out_ptr12, in_out_ptr13, in_out_ptr14, in_out_ptr15, in_out_ptr16, in_out_ptr17, in_out_ptr18, in_out_ptr19, in_out_ptr20, in_out_ptr21, in_out_ptr22, in_out_ptr23, in_out_ptr24, in_out_ptr25, in_out_ptr26, in_out_ptr27, in_out_ptr28, in_out_ptr29, in_out_ptr30, in_out_ptr31, in_out_ptr32, in_out_ptr33, in_out_ptr34, in_out_ptr35, in_out_ptr36, in_out_ptr37, in_out_ptr38, in_out_ptr39, in_out_ptr40, in_out_ptr41, in_out_ptr42, in_out_ptr43, in_out_ptr44, in_out_ptr45, in_out_ptr46, in_out_ptr47, in_out_ptr48, in_out_ptr49, in_out_ptr50, in_out_ptr51, in_out_ptr52, in_out_ptr53, in_out_ptr54, in_out_ptr55, in_out_ptr56, in_out_ptr57, in_out_ptr58, in_out_ptr59, in_out_ptr60, in_out_ptr61, in_out_ptr62, in_ptr0, in_ptr1, in_ptr2, in_ptr3, xnumel, XBLOCK : tl.constexpr):
    xnumel = 8192
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x3 = xindex
    x4 = (xindex % 2048)
    x1 = ((xindex // 16) % 128)
    x2 = xindex // 2048
    tmp0 = tl.load(in_ptr0 + (x3), None)
    tmp1 = tl.load(in_ptr1 + (x4), None, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr2 + (8064 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp5 = tl.load(in_ptr3 + (x1), None, eviction_policy='evict_last')
    tmp15 = tl.load(in_out_ptr0 + (x3), None)
    tmp17 = tl.load(in_ptr2 + (7936 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp26 = tl.load(in_out_ptr1 + (x3), None)
    tmp28 = tl.load(in_ptr2 + (7808 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp37 = tl.load(in_out_ptr2 + (x3), None)
    tmp39 = tl.load(in_ptr2 + (7680 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp48 = tl.load(in_out_ptr3 + (x3), None)
    tmp50 = tl.load(in_ptr2 + (7552 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp59 = tl.load(in_out_ptr4 + (x3), None)
    tmp61 = tl.load(in_ptr2 + (7424 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp70 = tl.load(in_out_ptr5 + (x3), None)
    tmp72 = tl.load(in_ptr2 + (7296 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp81 = tl.load(in_out_ptr6 + (x3), None)
    tmp83 = tl.load(in_ptr2 + (7168 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp92 = tl.load(in_out_ptr7 + (x3), None)
    tmp94 = tl.load(in_ptr2 + (7040 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp103 = tl.load(in_out_ptr8 + (x3), None)
    tmp105 = tl.load(in_ptr2 + (6912 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp114 = tl.load(in_out_ptr9 + (x3), None)
    tmp116 = tl.load(in_ptr2 + (6784 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp125 = tl.load(in_out_ptr10 + (x3), None)
    tmp127 = tl.load(in_ptr2 + (6656 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp136 = tl.load(in_out_ptr11 + (x3), None)
    tmp138 = tl.load(in_ptr2 + (6528 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp147 = tl.load(in_out_ptr12 + (x3), None)
    tmp149 = tl.load(in_ptr2 + (6400 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp158 = tl.load(in_out_ptr13 + (x3), None)
    tmp160 = tl.load(in_ptr2 + (6272 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp169 = tl.load(in_out_ptr14 + (x3), None)
    tmp171 = tl.load(in_ptr2 + (6144 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp180 = tl.load(in_out_ptr15 + (x3), None)
    tmp182 = tl.load(in_ptr2 + (6016 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp191 = tl.load(in_out_ptr16 + (x3), None)
    tmp193 = tl.load(in_ptr2 + (5888 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp202 = tl.load(in_out_ptr17 + (x3), None)
    tmp204 = tl.load(in_ptr2 + (5760 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp213 = tl.load(in_out_ptr18 + (x3), None)
    tmp215 = tl.load(in_ptr2 + (5632 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp224 = tl.load(in_out_ptr19 + (x3), None)
    tmp226 = tl.load(in_ptr2 + (5504 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp235 = tl.load(in_out_ptr20 + (x3), None)
    tmp237 = tl.load(in_ptr2 + (5376 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp246 = tl.load(in_out_ptr21 + (x3), None)
    tmp248 = tl.load(in_ptr2 + (5248 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp257 = tl.load(in_out_ptr22 + (x3), None)
    tmp259 = tl.load(in_ptr2 + (5120 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp268 = tl.load(in_out_ptr23 + (x3), None)
    tmp270 = tl.load(in_ptr2 + (4992 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp279 = tl.load(in_out_ptr24 + (x3), None)
    tmp281 = tl.load(in_ptr2 + (4864 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp290 = tl.load(in_out_ptr25 + (x3), None)
    tmp292 = tl.load(in_ptr2 + (4736 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp301 = tl.load(in_out_ptr26 + (x3), None)
    tmp303 = tl.load(in_ptr2 + (4608 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp312 = tl.load(in_out_ptr27 + (x3), None)
    tmp314 = tl.load(in_ptr2 + (4480 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp323 = tl.load(in_out_ptr28 + (x3), None)
    tmp325 = tl.load(in_ptr2 + (4352 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp334 = tl.load(in_out_ptr29 + (x3), None)
    tmp336 = tl.load(in_ptr2 + (4224 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp345 = tl.load(in_out_ptr30 + (x3), None)
    tmp347 = tl.load(in_ptr2 + (4096 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp356 = tl.load(in_out_ptr31 + (x3), None)
    tmp358 = tl.load(in_ptr2 + (3968 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp367 = tl.load(in_out_ptr32 + (x3), None)
    tmp369 = tl.load(in_ptr2 + (3840 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp378 = tl.load(in_out_ptr33 + (x3), None)
    tmp380 = tl.load(in_ptr2 + (3712 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp389 = tl.load(in_out_ptr34 + (x3), None)
    tmp391 = tl.load(in_ptr2 + (3584 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp400 = tl.load(in_out_ptr35 + (x3), None)
    tmp402 = tl.load(in_ptr2 + (3456 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp411 = tl.load(in_out_ptr36 + (x3), None)
    tmp413 = tl.load(in_ptr2 + (3328 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp422 = tl.load(in_out_ptr37 + (x3), None)
    tmp424 = tl.load(in_ptr2 + (3200 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp433 = tl.load(in_out_ptr38 + (x3), None)
    tmp435 = tl.load(in_ptr2 + (3072 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp444 = tl.load(in_out_ptr39 + (x3), None)
    tmp446 = tl.load(in_ptr2 + (2944 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp455 = tl.load(in_out_ptr40 + (x3), None)
    tmp457 = tl.load(in_ptr2 + (2816 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp466 = tl.load(in_out_ptr41 + (x3), None)
    tmp468 = tl.load(in_ptr2 + (2688 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp477 = tl.load(in_out_ptr42 + (x3), None)
    tmp479 = tl.load(in_ptr2 + (2560 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp488 = tl.load(in_out_ptr43 + (x3), None)
    tmp490 = tl.load(in_ptr2 + (2432 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp499 = tl.load(in_out_ptr44 + (x3), None)
    tmp501 = tl.load(in_ptr2 + (2304 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp510 = tl.load(in_out_ptr45 + (x3), None)
    tmp512 = tl.load(in_ptr2 + (2176 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp521 = tl.load(in_out_ptr46 + (x3), None)
    tmp523 = tl.load(in_ptr2 + (2048 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp532 = tl.load(in_out_ptr47 + (x3), None)
    tmp534 = tl.load(in_ptr2 + (1920 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp543 = tl.load(in_out_ptr48 + (x3), None)
    tmp545 = tl.load(in_ptr2 + (1792 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp554 = tl.load(in_out_ptr49 + (x3), None)
    tmp556 = tl.load(in_ptr2 + (1664 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp565 = tl.load(in_out_ptr50 + (x3), None)
    tmp567 = tl.load(in_ptr2 + (1536 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp576 = tl.load(in_out_ptr51 + (x3), None)
    tmp578 = tl.load(in_ptr2 + (1408 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp587 = tl.load(in_out_ptr52 + (x3), None)
    tmp589 = tl.load(in_ptr2 + (1280 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp598 = tl.load(in_out_ptr53 + (x3), None)
    tmp600 = tl.load(in_ptr2 + (1152 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp609 = tl.load(in_out_ptr54 + (x3), None)
    tmp611 = tl.load(in_ptr2 + (1024 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp620 = tl.load(in_out_ptr55 + (x3), None)
    tmp622 = tl.load(in_ptr2 + (896 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp631 = tl.load(in_out_ptr56 + (x3), None)
    tmp633 = tl.load(in_ptr2 + (768 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp642 = tl.load(in_out_ptr57 + (x3), None)
    tmp644 = tl.load(in_ptr2 + (640 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp653 = tl.load(in_out_ptr58 + (x3), None)
    tmp655 = tl.load(in_ptr2 + (512 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp664 = tl.load(in_out_ptr59 + (x3), None)
    tmp666 = tl.load(in_ptr2 + (384 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp675 = tl.load(in_out_ptr60 + (x3), None)
    tmp677 = tl.load(in_ptr2 + (256 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp686 = tl.load(in_out_ptr61 + (x3), None)
    tmp688 = tl.load(in_ptr2 + (128 + x1 + 8192*x2), None, eviction_policy='evict_last')
    tmp697 = tl.load(in_out_ptr62 + (x3), None)
    tmp2 = libdevice.exp(tmp1)
    tmp3 = -tmp2
    tmp6 = tmp4 + tmp5
    tmp7 = 20.0
    tmp8 = tmp6 > tmp7
    tmp9 = libdevice.exp(tmp6)
    tmp10 = libdevice.log1p(tmp9)
    tmp11 = tl.where(tmp8, tmp6, tmp10)
    tmp12 = tmp3 * tmp11
    tmp13 = libdevice.exp(tmp12)
    tmp14 = tmp0 * tmp13
    tmp16 = tmp14 + tmp15
    tmp18 = tmp17 + tmp5
    tmp19 = tmp18 > tmp7
    tmp20 = libdevice.exp(tmp18)
    tmp21 = libdevice.log1p(tmp20)
    tmp22 = tl.where(tmp19, tmp18, tmp21)
    tmp23 = tmp3 * tmp22
    tmp24 = libdevice.exp(tmp23)
    tmp25 = tmp16 * tmp24
    tmp27 = tmp25 + tmp26
    tmp29 = tmp28 + tmp5
    tmp30 = tmp29 > tmp7
    tmp31 = libdevice.exp(tmp29)
    tmp32 = libdevice.log1p(tmp31)
    tmp33 = tl.where(tmp30, tmp29, tmp32)
    tmp34 = tmp3 * tmp33
    tmp35 = libdevice.exp(tmp34)
    tmp36 = tmp27 * tmp35
    tmp38 = tmp36 + tmp37
    tmp40 = tmp39 + tmp5
    tmp41 = tmp40 > tmp7
    tmp42 = libdevice.exp(tmp40)
    tmp43 = libdevice.log1p(tmp42)
    tmp44 = tl.where(tmp41, tmp40, tmp43)
    tmp45 = tmp3 * tmp44
    tmp46 = libdevice.exp(tmp45)
    tmp47 = tmp38 * tmp46
    tmp49 = tmp47 + tmp48
    tmp51 = tmp50 + tmp5
    tmp52 = tmp51 > tmp7
    tmp53 = libdevice.exp(tmp51)
    tmp54 = libdevice.log1p(tmp53)
    tmp55 = tl.where(tmp52, tmp51, tmp54)
    tmp56 = tmp3 * tmp55
    tmp57 = libdevice.exp(tmp56)
    tmp58 = tmp49 * tmp57
    tmp60 = tmp58 + tmp59
    tmp62 = tmp61 + tmp5
    tmp63 = tmp62 > tmp7
    tmp64 = libdevice.exp(tmp62)
    tmp65 = libdevice.log1p(tmp64)
    tmp66 = tl.where(tmp63, tmp62, tmp65)
    tmp67 = tmp3 * tmp66
    tmp68 = libdevice.exp(tmp67)
    tmp69 = tmp60 * tmp68
    tmp71 = tmp69 + tmp70
    tmp73 = tmp72 + tmp5
    tmp74 = tmp73 > tmp7
    tmp75 = libdevice.exp(tmp73)
    tmp76 = libdevice.log1p(tmp75)
    tmp77 = tl.where(tmp74, tmp73, tmp76)
    tmp78 = tmp3 * tmp77
    tmp79 = libdevice.exp(tmp78)
    tmp80 = tmp71 * tmp79
    tmp82 = tmp80 + tmp81
    tmp84 = tmp83 + tmp5
    tmp85 = tmp84 > tmp7
    tmp86 = libdevice.exp(tmp84)
    tmp87 = libdevice.log1p(tmp86)
    tmp88 = tl.where(tmp85, tmp84, tmp87)
    tmp89 = tmp3 * tmp88
    tmp90 = libdevice.exp(tmp89)
    tmp91 = tmp82 * tmp90
    tmp93 = tmp91 + tmp92
    tmp95 = tmp94 + tmp5
    tmp96 = tmp95 > tmp7
    tmp97 = libdevice.exp(tmp95)
    tmp98 = libdevice.log1p(tmp97)
    tmp99 = tl.where(tmp96, tmp95, tmp98)
    tmp100 = tmp3 * tmp99
    tmp101 = libdevice.exp(tmp100)
    tmp102 = tmp93 * tmp101
    tmp104 = tmp102 + tmp103
    tmp106 = tmp105 + tmp5
    tmp107 = tmp106 > tmp7
    tmp108 = libdevice.exp(tmp106)
    tmp109 = libdevice.log1p(tmp108)
    tmp110 = tl.where(tmp107, tmp106, tmp109)
    tmp111 = tmp3 * tmp110
    tmp112 = libdevice.exp(tmp111)
    tmp113 = tmp104 * tmp112
    tmp115 = tmp113 + tmp114
    tmp117 = tmp116 + tmp5
    tmp118 = tmp117 > tmp7
    tmp119 = libdevice.exp(tmp117)
    tmp120 = libdevice.log1p(tmp119)
    tmp121 = tl.where(tmp118, tmp117, tmp120)
    tmp122 = tmp3 * tmp121
    tmp123 = libdevice.exp(tmp122)
    tmp124 = tmp115 * tmp123
    tmp126 = tmp124 + tmp125
    tmp128 = tmp127 + tmp5
    tmp129 = tmp128 > tmp7
    tmp130 = libdevice.exp(tmp128)
    tmp131 = libdevice.log1p(tmp130)
    tmp132 = tl.where(tmp129, tmp128, tmp131)
    tmp133 = tmp3 * tmp132
    tmp134 = libdevice.exp(tmp133)
    tmp135 = tmp126 * tmp134
    tmp137 = tmp135 + tmp136
    tmp139 = tmp138 + tmp5
    tmp140 = tmp139 > tmp7
    tmp141 = libdevice.exp(tmp139)
    tmp142 = libdevice.log1p(tmp141)
    tmp143 = tl.where(tmp140, tmp139, tmp142)
    tmp144 = tmp3 * tmp143
    tmp145 = libdevice.exp(tmp144)
    tmp146 = tmp137 * tmp145
    tmp148 = tmp146 + tmp147
    tmp150 = tmp149 + tmp5
    tmp151 = tmp150 > tmp7
    tmp152 = libdevice.exp(tmp150)
    tmp153 = libdevice.log1p(tmp152)
    tmp154 = tl.where(tmp151, tmp150, tmp153)
    tmp155 = tmp3 * tmp154
    tmp156 = libdevice.exp(tmp155)
    tmp157 = tmp148 * tmp156
    tmp159 = tmp157 + tmp158
    tmp161 = tmp160 + tmp5
    tmp162 = tmp161 > tmp7
    tmp163 = libdevice.exp(tmp161)
    tmp164 = libdevice.log1p(tmp163)
    tmp165 = tl.where(tmp162, tmp161, tmp164)
    tmp166 = tmp3 * tmp165
    tmp167 = libdevice.exp(tmp166)
    tmp168 = tmp159 * tmp167
    tmp170 = tmp168 + tmp169
    tmp172 = tmp171 + tmp5
    tmp173 = tmp172 > tmp7
    tmp174 = libdevice.exp(tmp172)
    tmp175 = libdevice.log1p(tmp174)
    tmp176 = tl.where(tmp173, tmp172, tmp175)
    tmp177 = tmp3 * tmp176
    tmp178 = libdevice.exp(tmp177)
    tmp179 = tmp170 * tmp178
    tmp181 = tmp179 + tmp180
    tmp183 = tmp182 + tmp5
    tmp184 = tmp183 > tmp7
    tmp185 = libdevice.exp(tmp183)
    tmp186 = libdevice.log1p(tmp185)
    tmp187 = tl.where(tmp184, tmp183, tmp186)
    tmp188 = tmp3 * tmp187
    tmp189 = libdevice.exp(tmp188)
    tmp190 = tmp181 * tmp189
    tmp192 = tmp190 + tmp191
    tmp194 = tmp193 + tmp5
    tmp195 = tmp194 > tmp7
    tmp196 = libdevice.exp(tmp194)
    tmp197 = libdevice.log1p(tmp196)
    tmp198 = tl.where(tmp195, tmp194, tmp197)
    tmp199 = tmp3 * tmp198
    tmp200 = libdevice.exp(tmp199)
    tmp201 = tmp192 * tmp200
    tmp203 = tmp201 + tmp202
    tmp205 = tmp204 + tmp5
    tmp206 = tmp205 > tmp7
    tmp207 = libdevice.exp(tmp205)
    tmp208 = libdevice.log1p(tmp207)
    tmp209 = tl.where(tmp206, tmp205, tmp208)
    tmp210 = tmp3 * tmp209
    tmp211 = libdevice.exp(tmp210)
    tmp212 = tmp203 * tmp211
    tmp214 = tmp212 + tmp213
    tmp216 = tmp215 + tmp5
    tmp217 = tmp216 > tmp7
    tmp218 = libdevice.exp(tmp216)
    tmp219 = libdevice.log1p(tmp218)
    tmp220 = tl.where(tmp217, tmp216, tmp219)
    tmp221 = tmp3 * tmp220
    tmp222 = libdevice.exp(tmp221)
    tmp223 = tmp214 * tmp222
    tmp225 = tmp223 + tmp224
    tmp227 = tmp226 + tmp5
    tmp228 = tmp227 > tmp7
    tmp229 = libdevice.exp(tmp227)
    tmp230 = libdevice.log1p(tmp229)
    tmp231 = tl.where(tmp228, tmp227, tmp230)
    tmp232 = tmp3 * tmp231
    tmp233 = libdevice.exp(tmp232)
    tmp234 = tmp225 * tmp233
    tmp236 = tmp234 + tmp235
    tmp238 = tmp237 + tmp5
    tmp239 = tmp238 > tmp7
    tmp240 = libdevice.exp(tmp238)
    tmp241 = libdevice.log1p(tmp240)
    tmp242 = tl.where(tmp239, tmp238, tmp241)
    tmp243 = tmp3 * tmp242
    tmp244 = libdevice.exp(tmp243)
    tmp245 = tmp236 * tmp244
    tmp247 = tmp245 + tmp246
    tmp249 = tmp248 + tmp5
    tmp250 = tmp249 > tmp7
    tmp251 = libdevice.exp(tmp249)
    tmp252 = libdevice.log1p(tmp251)
    tmp253 = tl.where(tmp250, tmp249, tmp252)
    tmp254 = tmp3 * tmp253
    tmp255 = libdevice.exp(tmp254)
    tmp256 = tmp247 * tmp255
    tmp258 = tmp256 + tmp257
    tmp260 = tmp259 + tmp5
    tmp261 = tmp260 > tmp7
    tmp262 = libdevice.exp(tmp260)
    tmp263 = libdevice.log1p(tmp262)
    tmp264 = tl.where(tmp261, tmp260, tmp263)
    tmp265 = tmp3 * tmp264
    tmp266 = libdevice.exp(tmp265)
    tmp267 = tmp258 * tmp266
    tmp269 = tmp267 + tmp268
    tmp271 = tmp270 + tmp5
    tmp272 = tmp271 > tmp7
    tmp273 = libdevice.exp(tmp271)
    tmp274 = libdevice.log1p(tmp273)
    tmp275 = tl.where(tmp272, tmp271, tmp274)
    tmp276 = tmp3 * tmp275
    tmp277 = libdevice.exp(tmp276)
    tmp278 = tmp269 * tmp277
    tmp280 = tmp278 + tmp279
    tmp282 = tmp281 + tmp5
    tmp283 = tmp282 > tmp7
    tmp284 = libdevice.exp(tmp282)
    tmp285 = libdevice.log1p(tmp284)
    tmp286 = tl.where(tmp283, tmp282, tmp285)
    tmp287 = tmp3 * tmp286
    tmp288 = libdevice.exp(tmp287)
    tmp289 = tmp280 * tmp288
    tmp291 = tmp289 + tmp290
    tmp293 = tmp292 + tmp5
    tmp294 = tmp293 > tmp7
    tmp295 = libdevice.exp(tmp293)
    tmp296 = libdevice.log1p(tmp295)
    tmp297 = tl.where(tmp294, tmp293, tmp296)
    tmp298 = tmp3 * tmp297
    tmp299 = libdevice.exp(tmp298)
    tmp300 = tmp291 * tmp299
    tmp302 = tmp300 + tmp301
    tmp304 = tmp303 + tmp5
    tmp305 = tmp304 > tmp7
    tmp306 = libdevice.exp(tmp304)
    tmp307 = libdevice.log1p(tmp306)
    tmp308 = tl.where(tmp305, tmp304, tmp307)
    tmp309 = tmp3 * tmp308
    tmp310 = libdevice.exp(tmp309)
    tmp311 = tmp302 * tmp310
    tmp313 = tmp311 + tmp312
    tmp315 = tmp314 + tmp5
    tmp316 = tmp315 > tmp7
    tmp317 = libdevice.exp(tmp315)
    tmp318 = libdevice.log1p(tmp317)
    tmp319 = tl.where(tmp316, tmp315, tmp318)
    tmp320 = tmp3 * tmp319
    tmp321 = libdevice.exp(tmp320)
    tmp322 = tmp313 * tmp321
    tmp324 = tmp322 + tmp323
    tmp326 = tmp325 + tmp5
    tmp327 = tmp326 > tmp7
    tmp328 = libdevice.exp(tmp326)
    tmp329 = libdevice.log1p(tmp328)
    tmp330 = tl.where(tmp327, tmp326, tmp329)
    tmp331 = tmp3 * tmp330
    tmp332 = libdevice.exp(tmp331)
    tmp333 = tmp324 * tmp332
    tmp335 = tmp333 + tmp334
    tmp337 = tmp336 + tmp5
    tmp338 = tmp337 > tmp7
    tmp339 = libdevice.exp(tmp337)
    tmp340 = libdevice.log1p(tmp339)
    tmp341 = tl.where(tmp338, tmp337, tmp340)
    tmp342 = tmp3 * tmp341
    tmp343 = libdevice.exp(tmp342)
    tmp344 = tmp335 * tmp343
    tmp346 = tmp344 + tmp345
    tmp348 = tmp347 + tmp5
    tmp349 = tmp348 > tmp7
    tmp350 = libdevice.exp(tmp348)
    tmp351 = libdevice.log1p(tmp350)
    tmp352 = tl.where(tmp349, tmp348, tmp351)
    tmp353 = tmp3 * tmp352
    tmp354 = libdevice.exp(tmp353)
    tmp355 = tmp346 * tmp354
    tmp357 = tmp355 + tmp356
    tmp359 = tmp358 + tmp5
    tmp360 = tmp359 > tmp7
    tmp361 = libdevice.exp(tmp359)
    tmp362 = libdevice.log1p(tmp361)
    tmp363 = tl.where(tmp360, tmp359, tmp362)
    tmp364 = tmp3 * tmp363
    tmp365 = libdevice.exp(tmp364)
    tmp366 = tmp357 * tmp365
    tmp368 = tmp366 + tmp367
    tmp370 = tmp369 + tmp5
    tmp371 = tmp370 > tmp7
    tmp372 = libdevice.exp(tmp370)
    tmp373 = libdevice.log1p(tmp372)
    tmp374 = tl.where(tmp371, tmp370, tmp373)
    tmp375 = tmp3 * tmp374
    tmp376 = libdevice.exp(tmp375)
    tmp377 = tmp368 * tmp376
    tmp379 = tmp377 + tmp378
    tmp381 = tmp380 + tmp5
    tmp382 = tmp381 > tmp7
    tmp383 = libdevice.exp(tmp381)
    tmp384 = libdevice.log1p(tmp383)
    tmp385 = tl.where(tmp382, tmp381, tmp384)
    tmp386 = tmp3 * tmp385
    tmp387 = libdevice.exp(tmp386)
    tmp388 = tmp379 * tmp387
    tmp390 = tmp388 + tmp389
    tmp392 = tmp391 + tmp5
    tmp393 = tmp392 > tmp7
    tmp394 = libdevice.exp(tmp392)
    tmp395 = libdevice.log1p(tmp394)
    tmp396 = tl.where(tmp393, tmp392, tmp395)
    tmp397 = tmp3 * tmp396
    tmp398 = libdevice.exp(tmp397)
    tmp399 = tmp390 * tmp398
    tmp401 = tmp399 + tmp400
    tmp403 = tmp402 + tmp5
    tmp404 = tmp403 > tmp7
    tmp405 = libdevice.exp(tmp403)
    tmp406 = libdevice.log1p(tmp405)
    tmp407 = tl.where(tmp404, tmp403, tmp406)
    tmp408 = tmp3 * tmp407
    tmp409 = libdevice.exp(tmp408)
    tmp410 = tmp401 * tmp409
    tmp412 = tmp410 + tmp411
    tmp414 = tmp413 + tmp5
    tmp415 = tmp414 > tmp7
    tmp416 = libdevice.exp(tmp414)
    tmp417 = libdevice.log1p(tmp416)
    tmp418 = tl.where(tmp415, tmp414, tmp417)
    tmp419 = tmp3 * tmp418
    tmp420 = libdevice.exp(tmp419)
    tmp421 = tmp412 * tmp420
    tmp423 = tmp421 + tmp422
    tmp425 = tmp424 + tmp5
    tmp426 = tmp425 > tmp7
    tmp427 = libdevice.exp(tmp425)
    tmp428 = libdevice.log1p(tmp427)
    tmp429 = tl.where(tmp426, tmp425, tmp428)
    tmp430 = tmp3 * tmp429
    tmp431 = libdevice.exp(tmp430)
    tmp432 = tmp423 * tmp431
    tmp434 = tmp432 + tmp433
    tmp436 = tmp435 + tmp5
    tmp437 = tmp436 > tmp7
    tmp438 = libdevice.exp(tmp436)
    tmp439 = libdevice.log1p(tmp438)
    tmp440 = tl.where(tmp437, tmp436, tmp439)
    tmp441 = tmp3 * tmp440
    tmp442 = libdevice.exp(tmp441)
    tmp443 = tmp434 * tmp442
    tmp445 = tmp443 + tmp444
    tmp447 = tmp446 + tmp5
    tmp448 = tmp447 > tmp7
    tmp449 = libdevice.exp(tmp447)
    tmp450 = libdevice.log1p(tmp449)
    tmp451 = tl.where(tmp448, tmp447, tmp450)
    tmp452 = tmp3 * tmp451
    tmp453 = libdevice.exp(tmp452)
    tmp454 = tmp445 * tmp453
    tmp456 = tmp454 + tmp455
    tmp458 = tmp457 + tmp5
    tmp459 = tmp458 > tmp7
    tmp460 = libdevice.exp(tmp458)
    tmp461 = libdevice.log1p(tmp460)
    tmp462 = tl.where(tmp459, tmp458, tmp461)
    tmp463 = tmp3 * tmp462
    tmp464 = libdevice.exp(tmp463)
    tmp465 = tmp456 * tmp464
    tmp467 = tmp465 + tmp466
    tmp469 = tmp468 + tmp5
    tmp470 = tmp469 > tmp7
    tmp471 = libdevice.exp(tmp469)
    tmp472 = libdevice.log1p(tmp471)
    tmp473 = tl.where(tmp470, tmp469, tmp472)
    tmp474 = tmp3 * tmp473
    tmp475 = libdevice.exp(tmp474)
    tmp476 = tmp467 * tmp475
    tmp478 = tmp476 + tmp477
    tmp480 = tmp479 + tmp5
    tmp481 = tmp480 > tmp7
    tmp482 = libdevice.exp(tmp480)
    tmp483 = libdevice.log1p(tmp482)
    tmp484 = tl.where(tmp481, tmp480, tmp483)
    tmp485 = tmp3 * tmp484
    tmp486 = libdevice.exp(tmp485)
    tmp487 = tmp478 * tmp486
    tmp489 = tmp487 + tmp488
    tmp491 = tmp490 + tmp5
    tmp492 = tmp491 > tmp7
    tmp493 = libdevice.exp(tmp491)
    tmp494 = libdevice.log1p(tmp493)
    tmp495 = tl.where(tmp492, tmp491, tmp494)
    tmp496 = tmp3 * tmp495
    tmp497 = libdevice.exp(tmp496)
    tmp498 = tmp489 * tmp497
    tmp500 = tmp498 + tmp499
    tmp502 = tmp501 + tmp5
    tmp503 = tmp502 > tmp7
    tmp504 = libdevice.exp(tmp502)
    tmp505 = libdevice.log1p(tmp504)
    tmp506 = tl.where(tmp503, tmp502, tmp505)
    tmp507 = tmp3 * tmp506
    tmp508 = libdevice.exp(tmp507)
    tmp509 = tmp500 * tmp508
    tmp511 = tmp509 + tmp510
    tmp513 = tmp512 + tmp5
    tmp514 = tmp513 > tmp7
    tmp515 = libdevice.exp(tmp513)
    tmp516 = libdevice.log1p(tmp515)
    tmp517 = tl.where(tmp514, tmp513, tmp516)
    tmp518 = tmp3 * tmp517
    tmp519 = libdevice.exp(tmp518)
    tmp520 = tmp511 * tmp519
    tmp522 = tmp520 + tmp521
    tmp524 = tmp523 + tmp5
    tmp525 = tmp524 > tmp7
    tmp526 = libdevice.exp(tmp524)
    tmp527 = libdevice.log1p(tmp526)
    tmp528 = tl.where(tmp525, tmp524, tmp527)
    tmp529 = tmp3 * tmp528
    tmp530 = libdevice.exp(tmp529)
    tmp531 = tmp522 * tmp530
    tmp533 = tmp531 + tmp532
    tmp535 = tmp534 + tmp5
    tmp536 = tmp535 > tmp7
    tmp537 = libdevice.exp(tmp535)
    tmp538 = libdevice.log1p(tmp537)
    tmp539 = tl.where(tmp536, tmp535, tmp538)
    tmp540 = tmp3 * tmp539
    tmp541 = libdevice.exp(tmp540)
    tmp542 = tmp533 * tmp541
    tmp544 = tmp542 + tmp543
    tmp546 = tmp545 + tmp5
    tmp547 = tmp546 > tmp7
    tmp548 = libdevice.exp(tmp546)
    tmp549 = libdevice.log1p(tmp548)
    tmp550 = tl.where(tmp547, tmp546, tmp549)
    tmp551 = tmp3 * tmp550
    tmp552 = libdevice.exp(tmp551)
    tmp553 = tmp544 * tmp552
    tmp555 = tmp553 + tmp554
    tmp557 = tmp556 + tmp5
    tmp558 = tmp557 > tmp7
    tmp559 = libdevice.exp(tmp557)
    tmp560 = libdevice.log1p(tmp559)
    tmp561 = tl.where(tmp558, tmp557, tmp560)
    tmp562 = tmp3 * tmp561
    tmp563 = libdevice.exp(tmp562)
    tmp564 = tmp555 * tmp563
    tmp566 = tmp564 + tmp565
    tmp568 = tmp567 + tmp5
    tmp569 = tmp568 > tmp7
    tmp570 = libdevice.exp(tmp568)
    tmp571 = libdevice.log1p(tmp570)
    tmp572 = tl.where(tmp569, tmp568, tmp571)
    tmp573 = tmp3 * tmp572
    tmp574 = libdevice.exp(tmp573)
    tmp575 = tmp566 * tmp574
    tmp577 = tmp575 + tmp576
    tmp579 = tmp578 + tmp5
    tmp580 = tmp579 > tmp7
    tmp581 = libdevice.exp(tmp579)
    tmp582 = libdevice.log1p(tmp581)
    tmp583 = tl.where(tmp580, tmp579, tmp582)
    tmp584 = tmp3 * tmp583
    tmp585 = libdevice.exp(tmp584)
    tmp586 = tmp577 * tmp585
    tmp588 = tmp586 + tmp587
    tmp590 = tmp589 + tmp5
    tmp591 = tmp590 > tmp7
    tmp592 = libdevice.exp(tmp590)
    tmp593 = libdevice.log1p(tmp592)
    tmp594 = tl.where(tmp591, tmp590, tmp593)
    tmp595 = tmp3 * tmp594
    tmp596 = libdevice.exp(tmp595)
    tmp597 = tmp588 * tmp596
    tmp599 = tmp597 + tmp598
    tmp601 = tmp600 + tmp5
    tmp602 = tmp601 > tmp7
    tmp603 = libdevice.exp(tmp601)
    tmp604 = libdevice.log1p(tmp603)
    tmp605 = tl.where(tmp602, tmp601, tmp604)
    tmp606 = tmp3 * tmp605
    tmp607 = libdevice.exp(tmp606)
    tmp608 = tmp599 * tmp607
    tmp610 = tmp608 + tmp609
    tmp612 = tmp611 + tmp5
    tmp613 = tmp612 > tmp7
    tmp614 = libdevice.exp(tmp612)
    tmp615 = libdevice.log1p(tmp614)
    tmp616 = tl.where(tmp613, tmp612, tmp615)
    tmp617 = tmp3 * tmp616
    tmp618 = libdevice.exp(tmp617)
    tmp619 = tmp610 * tmp618
    tmp621 = tmp619 + tmp620
    tmp623 = tmp622 + tmp5
    tmp624 = tmp623 > tmp7
    tmp625 = libdevice.exp(tmp623)
    tmp626 = libdevice.log1p(tmp625)
    tmp627 = tl.where(tmp624, tmp623, tmp626)
    tmp628 = tmp3 * tmp627
    tmp629 = libdevice.exp(tmp628)
    tmp630 = tmp621 * tmp629
    tmp632 = tmp630 + tmp631
    tmp634 = tmp633 + tmp5
    tmp635 = tmp634 > tmp7
    tmp636 = libdevice.exp(tmp634)
    tmp637 = libdevice.log1p(tmp636)
    tmp638 = tl.where(tmp635, tmp634, tmp637)
    tmp639 = tmp3 * tmp638
    tmp640 = libdevice.exp(tmp639)
    tmp641 = tmp632 * tmp640
    tmp643 = tmp641 + tmp642
    tmp645 = tmp644 + tmp5
    tmp646 = tmp645 > tmp7
    tmp647 = libdevice.exp(tmp645)
    tmp648 = libdevice.log1p(tmp647)
    tmp649 = tl.where(tmp646, tmp645, tmp648)
    tmp650 = tmp3 * tmp649
    tmp651 = libdevice.exp(tmp650)
    tmp652 = tmp643 * tmp651
    tmp654 = tmp652 + tmp653
    tmp656 = tmp655 + tmp5
    tmp657 = tmp656 > tmp7
    tmp658 = libdevice.exp(tmp656)
    tmp659 = libdevice.log1p(tmp658)
    tmp660 = tl.where(tmp657, tmp656, tmp659)
    tmp661 = tmp3 * tmp660
    tmp662 = libdevice.exp(tmp661)
    tmp663 = tmp654 * tmp662
    tmp665 = tmp663 + tmp664
    tmp667 = tmp666 + tmp5
    tmp668 = tmp667 > tmp7
    tmp669 = libdevice.exp(tmp667)
    tmp670 = libdevice.log1p(tmp669)
    tmp671 = tl.where(tmp668, tmp667, tmp670)
    tmp672 = tmp3 * tmp671
    tmp673 = libdevice.exp(tmp672)
    tmp674 = tmp665 * tmp673
    tmp676 = tmp674 + tmp675
    tmp678 = tmp677 + tmp5
    tmp679 = tmp678 > tmp7
    tmp680 = libdevice.exp(tmp678)
    tmp681 = libdevice.log1p(tmp680)
    tmp682 = tl.where(tmp679, tmp678, tmp681)
    tmp683 = tmp3 * tmp682
    tmp684 = libdevice.exp(tmp683)
    tmp685 = tmp676 * tmp684
    tmp687 = tmp685 + tmp686
    tmp689 = tmp688 + tmp5
    tmp690 = tmp689 > tmp7
    tmp691 = libdevice.exp(tmp689)
    tmp692 = libdevice.log1p(tmp691)
    tmp693 = tl.where(tmp690, tmp689, tmp692)
    tmp694 = tmp3 * tmp693
    tmp695 = libdevice.exp(tmp694)
    tmp696 = tmp687 * tmp695
    tmp698 = tmp696 + tmp697
    tl.store(in_out_ptr0 + (x3), tmp16, None)
    tl.store(in_out_ptr1 + (x3), tmp27, None)
    tl.store(in_out_ptr2 + (x3), tmp38, None)
    tl.store(in_out_ptr3 + (x3), tmp49, None)
    tl.store(in_out_ptr4 + (x3), tmp60, None)
    tl.store(in_out_ptr5 + (x3), tmp71, None)
    tl.store(in_out_ptr6 + (x3), tmp82, None)
    tl.store(in_out_ptr7 + (x3), tmp93, None)
    tl.store(in_out_ptr8 + (x3), tmp104, None)
    tl.store(in_out_ptr9 + (x3), tmp115, None)
    tl.store(in_out_ptr10 + (x3), tmp126, None)
    tl.store(in_out_ptr11 + (x3), tmp137, None)
    tl.store(in_out_ptr12 + (x3), tmp148, None)
    tl.store(in_out_ptr13 + (x3), tmp159, None)
    tl.store(in_out_ptr14 + (x3), tmp170, None)
    tl.store(in_out_ptr15 + (x3), tmp181, None)
    tl.store(in_out_ptr16 + (x3), tmp192, None)
    tl.store(in_out_ptr17 + (x3), tmp203, None)
    tl.store(in_out_ptr18 + (x3), tmp214, None)
    tl.store(in_out_ptr19 + (x3), tmp225, None)
    tl.store(in_out_ptr20 + (x3), tmp236, None)
    tl.store(in_out_ptr21 + (x3), tmp247, None)
    tl.store(in_out_ptr22 + (x3), tmp258, None)
    tl.store(in_out_ptr23 + (x3), tmp269, None)
    tl.store(in_out_ptr24 + (x3), tmp280, None)
    tl.store(in_out_ptr25 + (x3), tmp291, None)
    tl.store(in_out_ptr26 + (x3), tmp302, None)
    tl.store(in_out_ptr27 + (x3), tmp313, None)
    tl.store(in_out_ptr28 + (x3), tmp324, None)
    tl.store(in_out_ptr29 + (x3), tmp335, None)
    tl.store(in_out_ptr30 + (x3), tmp346, None)
    tl.store(in_out_ptr31 + (x3), tmp357, None)
    tl.store(in_out_ptr32 + (x3), tmp368, None)
    tl.store(in_out_ptr33 + (x3), tmp379, None)
    tl.store(in_out_ptr34 + (x3), tmp390, None)
    tl.store(in_out_ptr35 + (x3), tmp401, None)
    tl.store(in_out_ptr36 + (x3), tmp412, None)
    tl.store(in_out_ptr37 + (x3), tmp423, None)
    tl.store(in_out_ptr38 + (x3), tmp434, None)
    tl.store(in_out_ptr39 + (x3), tmp445, None)
    tl.store(in_out_ptr40 + (x3), tmp456, None)
    tl.store(in_out_ptr41 + (x3), tmp467, None)
    tl.store(in_out_ptr42 + (x3), tmp478, None)
    tl.store(in_out_ptr43 + (x3), tmp489, None)
    tl.store(in_out_ptr44 + (x3), tmp500, None)
    tl.store(in_out_ptr45 + (x3), tmp511, None)
    tl.store(in_out_ptr46 + (x3), tmp522, None)
    tl.store(in_out_ptr47 + (x3), tmp533, None)
    tl.store(in_out_ptr48 + (x3), tmp544, None)
    tl.store(in_out_ptr49 + (x3), tmp555, None)
    tl.store(in_out_ptr50 + (x3), tmp566, None)
    tl.store(in_out_ptr51 + (x3), tmp577, None)
    tl.store(in_out_ptr52 + (x3), tmp588, None)
    tl.store(in_out_ptr53 + (x3), tmp599, None)
    tl.store(in_out_ptr54 + (x3), tmp610, None)
    tl.store(in_out_ptr55 + (x3), tmp621, None)
    tl.store(in_out_ptr56 + (x3), tmp632, None)
    tl.store(in_out_ptr57 + (x3), tmp643, None)
    tl.store(in_out_ptr58 + (x3), tmp654, None)
    tl.store(in_out_ptr59 + (x3), tmp665, None)
    tl.store(in_out_ptr60 + (x3), tmp676, None)
    tl.store(in_out_ptr61 + (x3), tmp687, None)
    tl.store(in_out_ptr62 + (x3), tmp698, None)
