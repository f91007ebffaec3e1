import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_mul_select_backward_72(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, in_ptr9, in_ptr10, in_ptr11, in_ptr12, in_ptr13, in_ptr14, in_ptr15, in_ptr16, in_ptr17, in_ptr18, in_ptr19, in_ptr20, in_ptr21, in_ptr22, in_ptr23, in_ptr24, in_ptr25, in_ptr26, in_ptr27, in_ptr28, in_ptr29, in_ptr30, in_ptr31, in_ptr32, in_ptr33, in_ptr34, in_ptr35, in_ptr36, in_ptr37, in_ptr38, in_ptr39, in_ptr40, in_ptr41, in_ptr42, in_ptr43, in_ptr44, in_ptr45, in_ptr46, in_ptr47, in_ptr48, in_ptr49, in_ptr50, in_ptr51, in_ptr52, in_ptr53, in_ptr54, in_ptr55, in_ptr56, in_ptr57, in_ptr58, in_ptr59, in_ptr60, in_ptr61, in_ptr62, in_ptr63, in_ptr64, in_ptr65, in_ptr66, in_ptr67, in_ptr68, in_ptr69, in_ptr70, in_ptr71, in_ptr72, in_ptr73, in_ptr74, in_ptr75, in_ptr76, in_ptr77, in_ptr78, in_ptr79, in_ptr80, in_ptr81, in_ptr82, in_ptr83, in_ptr84, in_ptr85, in_ptr86, in_ptr87, in_ptr88, in_ptr89, in_ptr90, in_ptr91, in_ptr92, in_ptr93, in_ptr94, in_ptr95, in_ptr96, in_ptr97, in_ptr98, in_ptr99, in_ptr100, in_ptr101, in_ptr102, in_ptr103, in_ptr104, in_ptr105, in_ptr106, in_ptr107, in_ptr108, in_ptr109, in_ptr110, in_ptr111, in_ptr112, in_ptr113, in_ptr114, in_ptr115, in_ptr116, in_ptr117, in_ptr118, in_ptr119, in_ptr120, in_ptr121, xnumel, XBLOCK : tl.constexpr):
    xnumel = 524288
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x1 = ((xindex // 16) % 64)
    x0 = (xindex % 16)
    x2 = xindex // 1024
    x3 = xindex
    tmp3 = tl.load(in_ptr0 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr1 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp10 = tl.load(in_ptr2 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp11 = tl.load(in_ptr3 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp17 = tl.load(in_ptr4 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp18 = tl.load(in_ptr5 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp24 = tl.load(in_ptr6 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp25 = tl.load(in_ptr7 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp31 = tl.load(in_ptr8 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp32 = tl.load(in_ptr9 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp38 = tl.load(in_ptr10 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp39 = tl.load(in_ptr11 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp45 = tl.load(in_ptr12 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp46 = tl.load(in_ptr13 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp52 = tl.load(in_ptr14 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp53 = tl.load(in_ptr15 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp59 = tl.load(in_ptr16 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp60 = tl.load(in_ptr17 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp66 = tl.load(in_ptr18 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp67 = tl.load(in_ptr19 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp73 = tl.load(in_ptr20 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp74 = tl.load(in_ptr21 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp80 = tl.load(in_ptr22 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp81 = tl.load(in_ptr23 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp87 = tl.load(in_ptr24 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp88 = tl.load(in_ptr25 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp94 = tl.load(in_ptr26 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp95 = tl.load(in_ptr27 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp101 = tl.load(in_ptr28 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp102 = tl.load(in_ptr29 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp108 = tl.load(in_ptr30 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp109 = tl.load(in_ptr31 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp115 = tl.load(in_ptr32 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp116 = tl.load(in_ptr33 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp122 = tl.load(in_ptr34 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp123 = tl.load(in_ptr35 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp129 = tl.load(in_ptr36 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp130 = tl.load(in_ptr37 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp136 = tl.load(in_ptr38 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp137 = tl.load(in_ptr39 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp143 = tl.load(in_ptr40 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp144 = tl.load(in_ptr41 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp150 = tl.load(in_ptr42 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp151 = tl.load(in_ptr43 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp157 = tl.load(in_ptr44 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp158 = tl.load(in_ptr45 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp164 = tl.load(in_ptr46 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp165 = tl.load(in_ptr47 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp171 = tl.load(in_ptr48 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp172 = tl.load(in_ptr49 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp178 = tl.load(in_ptr50 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp179 = tl.load(in_ptr51 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp185 = tl.load(in_ptr52 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp186 = tl.load(in_ptr53 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp192 = tl.load(in_ptr54 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp193 = tl.load(in_ptr55 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp199 = tl.load(in_ptr56 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp200 = tl.load(in_ptr57 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp206 = tl.load(in_ptr58 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp207 = tl.load(in_ptr59 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp213 = tl.load(in_ptr60 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp214 = tl.load(in_ptr61 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp220 = tl.load(in_ptr62 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp221 = tl.load(in_ptr63 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp227 = tl.load(in_ptr64 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp228 = tl.load(in_ptr65 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp234 = tl.load(in_ptr66 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp235 = tl.load(in_ptr67 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp241 = tl.load(in_ptr68 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp242 = tl.load(in_ptr69 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp248 = tl.load(in_ptr70 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp249 = tl.load(in_ptr71 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp255 = tl.load(in_ptr72 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp256 = tl.load(in_ptr73 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp262 = tl.load(in_ptr74 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp263 = tl.load(in_ptr75 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp269 = tl.load(in_ptr76 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp270 = tl.load(in_ptr77 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp276 = tl.load(in_ptr78 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp277 = tl.load(in_ptr79 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp283 = tl.load(in_ptr80 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp284 = tl.load(in_ptr81 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp290 = tl.load(in_ptr82 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp291 = tl.load(in_ptr83 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp297 = tl.load(in_ptr84 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp298 = tl.load(in_ptr85 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp304 = tl.load(in_ptr86 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp305 = tl.load(in_ptr87 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp311 = tl.load(in_ptr88 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp312 = tl.load(in_ptr89 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp318 = tl.load(in_ptr90 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp319 = tl.load(in_ptr91 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp325 = tl.load(in_ptr92 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp326 = tl.load(in_ptr93 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp332 = tl.load(in_ptr94 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp333 = tl.load(in_ptr95 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp339 = tl.load(in_ptr96 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp340 = tl.load(in_ptr97 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp346 = tl.load(in_ptr98 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp347 = tl.load(in_ptr99 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp353 = tl.load(in_ptr100 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp354 = tl.load(in_ptr101 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp360 = tl.load(in_ptr102 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp361 = tl.load(in_ptr103 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp367 = tl.load(in_ptr104 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp368 = tl.load(in_ptr105 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp374 = tl.load(in_ptr106 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp375 = tl.load(in_ptr107 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp381 = tl.load(in_ptr108 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp382 = tl.load(in_ptr109 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp388 = tl.load(in_ptr110 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp389 = tl.load(in_ptr111 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp395 = tl.load(in_ptr112 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp396 = tl.load(in_ptr113 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp402 = tl.load(in_ptr114 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp403 = tl.load(in_ptr115 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp409 = tl.load(in_ptr116 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp410 = tl.load(in_ptr117 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp416 = tl.load(in_ptr118 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp417 = tl.load(in_ptr119 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp423 = tl.load(in_ptr120 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp424 = tl.load(in_ptr121 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp0 = x1
    tmp1 = tl.full([1], 63, tl.int32)
    tmp2 = tmp0 == tmp1
    tmp5 = tmp3 * tmp4
    tmp6 = 0.0
    tmp7 = tl.where(tmp2, tmp5, tmp6)
    tmp8 = tl.full([1], 62, tl.int32)
    tmp9 = tmp0 == tmp8
    tmp12 = tmp10 * tmp11
    tmp13 = tl.where(tmp9, tmp12, tmp6)
    tmp14 = tmp7 + tmp13
    tmp15 = tl.full([1], 61, tl.int32)
    tmp16 = tmp0 == tmp15
    tmp19 = tmp17 * tmp18
    tmp20 = tl.where(tmp16, tmp19, tmp6)
    tmp21 = tmp14 + tmp20
    tmp22 = tl.full([1], 60, tl.int32)
    tmp23 = tmp0 == tmp22
    tmp26 = tmp24 * tmp25
    tmp27 = tl.where(tmp23, tmp26, tmp6)
    tmp28 = tmp21 + tmp27
    tmp29 = tl.full([1], 59, tl.int32)
    tmp30 = tmp0 == tmp29
    tmp33 = tmp31 * tmp32
    tmp34 = tl.where(tmp30, tmp33, tmp6)
    tmp35 = tmp28 + tmp34
    tmp36 = tl.full([1], 58, tl.int32)
    tmp37 = tmp0 == tmp36
    tmp40 = tmp38 * tmp39
    tmp41 = tl.where(tmp37, tmp40, tmp6)
    tmp42 = tmp35 + tmp41
    tmp43 = tl.full([1], 57, tl.int32)
    tmp44 = tmp0 == tmp43
    tmp47 = tmp45 * tmp46
    tmp48 = tl.where(tmp44, tmp47, tmp6)
    tmp49 = tmp42 + tmp48
    tmp50 = tl.full([1], 56, tl.int32)
    tmp51 = tmp0 == tmp50
    tmp54 = tmp52 * tmp53
    tmp55 = tl.where(tmp51, tmp54, tmp6)
    tmp56 = tmp49 + tmp55
    tmp57 = tl.full([1], 55, tl.int32)
    tmp58 = tmp0 == tmp57
    tmp61 = tmp59 * tmp60
    tmp62 = tl.where(tmp58, tmp61, tmp6)
    tmp63 = tmp56 + tmp62
    tmp64 = tl.full([1], 54, tl.int32)
    tmp65 = tmp0 == tmp64
    tmp68 = tmp66 * tmp67
    tmp69 = tl.where(tmp65, tmp68, tmp6)
    tmp70 = tmp63 + tmp69
    tmp71 = tl.full([1], 53, tl.int32)
    tmp72 = tmp0 == tmp71
    tmp75 = tmp73 * tmp74
    tmp76 = tl.where(tmp72, tmp75, tmp6)
    tmp77 = tmp70 + tmp76
    tmp78 = tl.full([1], 52, tl.int32)
    tmp79 = tmp0 == tmp78
    tmp82 = tmp80 * tmp81
    tmp83 = tl.where(tmp79, tmp82, tmp6)
    tmp84 = tmp77 + tmp83
    tmp85 = tl.full([1], 51, tl.int32)
    tmp86 = tmp0 == tmp85
    tmp89 = tmp87 * tmp88
    tmp90 = tl.where(tmp86, tmp89, tmp6)
    tmp91 = tmp84 + tmp90
    tmp92 = tl.full([1], 50, tl.int32)
    tmp93 = tmp0 == tmp92
    tmp96 = tmp94 * tmp95
    tmp97 = tl.where(tmp93, tmp96, tmp6)
    tmp98 = tmp91 + tmp97
    tmp99 = tl.full([1], 49, tl.int32)
    tmp100 = tmp0 == tmp99
    tmp103 = tmp101 * tmp102
    tmp104 = tl.where(tmp100, tmp103, tmp6)
    tmp105 = tmp98 + tmp104
    tmp106 = tl.full([1], 48, tl.int32)
    tmp107 = tmp0 == tmp106
    tmp110 = tmp108 * tmp109
    tmp111 = tl.where(tmp107, tmp110, tmp6)
    tmp112 = tmp105 + tmp111
    tmp113 = tl.full([1], 47, tl.int32)
    tmp114 = tmp0 == tmp113
    tmp117 = tmp115 * tmp116
    tmp118 = tl.where(tmp114, tmp117, tmp6)
    tmp119 = tmp112 + tmp118
    tmp120 = tl.full([1], 46, tl.int32)
    tmp121 = tmp0 == tmp120
    tmp124 = tmp122 * tmp123
    tmp125 = tl.where(tmp121, tmp124, tmp6)
    tmp126 = tmp119 + tmp125
    tmp127 = tl.full([1], 45, tl.int32)
    tmp128 = tmp0 == tmp127
    tmp131 = tmp129 * tmp130
    tmp132 = tl.where(tmp128, tmp131, tmp6)
    tmp133 = tmp126 + tmp132
    tmp134 = tl.full([1], 44, tl.int32)
    tmp135 = tmp0 == tmp134
    tmp138 = tmp136 * tmp137
    tmp139 = tl.where(tmp135, tmp138, tmp6)
    tmp140 = tmp133 + tmp139
    tmp141 = tl.full([1], 43, tl.int32)
    tmp142 = tmp0 == tmp141
    tmp145 = tmp143 * tmp144
    tmp146 = tl.where(tmp142, tmp145, tmp6)
    tmp147 = tmp140 + tmp146
    tmp148 = tl.full([1], 42, tl.int32)
    tmp149 = tmp0 == tmp148
    tmp152 = tmp150 * tmp151
    tmp153 = tl.where(tmp149, tmp152, tmp6)
    tmp154 = tmp147 + tmp153
    tmp155 = tl.full([1], 41, tl.int32)
    tmp156 = tmp0 == tmp155
    tmp159 = tmp157 * tmp158
    tmp160 = tl.where(tmp156, tmp159, tmp6)
    tmp161 = tmp154 + tmp160
    tmp162 = tl.full([1], 40, tl.int32)
    tmp163 = tmp0 == tmp162
    tmp166 = tmp164 * tmp165
    tmp167 = tl.where(tmp163, tmp166, tmp6)
    tmp168 = tmp161 + tmp167
    tmp169 = tl.full([1], 39, tl.int32)
    tmp170 = tmp0 == tmp169
    tmp173 = tmp171 * tmp172
    tmp174 = tl.where(tmp170, tmp173, tmp6)
    tmp175 = tmp168 + tmp174
    tmp176 = tl.full([1], 38, tl.int32)
    tmp177 = tmp0 == tmp176
    tmp180 = tmp178 * tmp179
    tmp181 = tl.where(tmp177, tmp180, tmp6)
    tmp182 = tmp175 + tmp181
    tmp183 = tl.full([1], 37, tl.int32)
    tmp184 = tmp0 == tmp183
    tmp187 = tmp185 * tmp186
    tmp188 = tl.where(tmp184, tmp187, tmp6)
    tmp189 = tmp182 + tmp188
    tmp190 = tl.full([1], 36, tl.int32)
    tmp191 = tmp0 == tmp190
    tmp194 = tmp192 * tmp193
    tmp195 = tl.where(tmp191, tmp194, tmp6)
    tmp196 = tmp189 + tmp195
    tmp197 = tl.full([1], 35, tl.int32)
    tmp198 = tmp0 == tmp197
    tmp201 = tmp199 * tmp200
    tmp202 = tl.where(tmp198, tmp201, tmp6)
    tmp203 = tmp196 + tmp202
    tmp204 = tl.full([1], 34, tl.int32)
    tmp205 = tmp0 == tmp204
    tmp208 = tmp206 * tmp207
    tmp209 = tl.where(tmp205, tmp208, tmp6)
    tmp210 = tmp203 + tmp209
    tmp211 = tl.full([1], 33, tl.int32)
    tmp212 = tmp0 == tmp211
    tmp215 = tmp213 * tmp214
    tmp216 = tl.where(tmp212, tmp215, tmp6)
    tmp217 = tmp210 + tmp216
    tmp218 = tl.full([1], 32, tl.int32)
    tmp219 = tmp0 == tmp218
    tmp222 = tmp220 * tmp221
    tmp223 = tl.where(tmp219, tmp222, tmp6)
    tmp224 = tmp217 + tmp223
    tmp225 = tl.full([1], 31, tl.int32)
    tmp226 = tmp0 == tmp225
    tmp229 = tmp227 * tmp228
    tmp230 = tl.where(tmp226, tmp229, tmp6)
    tmp231 = tmp224 + tmp230
    tmp232 = tl.full([1], 30, tl.int32)
    tmp233 = tmp0 == tmp232
    tmp236 = tmp234 * tmp235
    tmp237 = tl.where(tmp233, tmp236, tmp6)
    tmp238 = tmp231 + tmp237
    tmp239 = tl.full([1], 29, tl.int32)
    tmp240 = tmp0 == tmp239
    tmp243 = tmp241 * tmp242
    tmp244 = tl.where(tmp240, tmp243, tmp6)
    tmp245 = tmp238 + tmp244
    tmp246 = tl.full([1], 28, tl.int32)
    tmp247 = tmp0 == tmp246
    tmp250 = tmp248 * tmp249
    tmp251 = tl.where(tmp247, tmp250, tmp6)
    tmp252 = tmp245 + tmp251
    tmp253 = tl.full([1], 27, tl.int32)
    tmp254 = tmp0 == tmp253
    tmp257 = tmp255 * tmp256
    tmp258 = tl.where(tmp254, tmp257, tmp6)
    tmp259 = tmp252 + tmp258
    tmp260 = tl.full([1], 26, tl.int32)
    tmp261 = tmp0 == tmp260
    tmp264 = tmp262 * tmp263
    tmp265 = tl.where(tmp261, tmp264, tmp6)
    tmp266 = tmp259 + tmp265
    tmp267 = tl.full([1], 25, tl.int32)
    tmp268 = tmp0 == tmp267
    tmp271 = tmp269 * tmp270
    tmp272 = tl.where(tmp268, tmp271, tmp6)
    tmp273 = tmp266 + tmp272
    tmp274 = tl.full([1], 24, tl.int32)
    tmp275 = tmp0 == tmp274
    tmp278 = tmp276 * tmp277
    tmp279 = tl.where(tmp275, tmp278, tmp6)
    tmp280 = tmp273 + tmp279
    tmp281 = tl.full([1], 23, tl.int32)
    tmp282 = tmp0 == tmp281
    tmp285 = tmp283 * tmp284
    tmp286 = tl.where(tmp282, tmp285, tmp6)
    tmp287 = tmp280 + tmp286
    tmp288 = tl.full([1], 22, tl.int32)
    tmp289 = tmp0 == tmp288
    tmp292 = tmp290 * tmp291
    tmp293 = tl.where(tmp289, tmp292, tmp6)
    tmp294 = tmp287 + tmp293
    tmp295 = tl.full([1], 21, tl.int32)
    tmp296 = tmp0 == tmp295
    tmp299 = tmp297 * tmp298
    tmp300 = tl.where(tmp296, tmp299, tmp6)
    tmp301 = tmp294 + tmp300
    tmp302 = tl.full([1], 20, tl.int32)
    tmp303 = tmp0 == tmp302
    tmp306 = tmp304 * tmp305
    tmp307 = tl.where(tmp303, tmp306, tmp6)
    tmp308 = tmp301 + tmp307
    tmp309 = tl.full([1], 19, tl.int32)
    tmp310 = tmp0 == tmp309
    tmp313 = tmp311 * tmp312
    tmp314 = tl.where(tmp310, tmp313, tmp6)
    tmp315 = tmp308 + tmp314
    tmp316 = tl.full([1], 18, tl.int32)
    tmp317 = tmp0 == tmp316
    tmp320 = tmp318 * tmp319
    tmp321 = tl.where(tmp317, tmp320, tmp6)
    tmp322 = tmp315 + tmp321
    tmp323 = tl.full([1], 17, tl.int32)
    tmp324 = tmp0 == tmp323
    tmp327 = tmp325 * tmp326
    tmp328 = tl.where(tmp324, tmp327, tmp6)
    tmp329 = tmp322 + tmp328
    tmp330 = tl.full([1], 16, tl.int32)
    tmp331 = tmp0 == tmp330
    tmp334 = tmp332 * tmp333
    tmp335 = tl.where(tmp331, tmp334, tmp6)
    tmp336 = tmp329 + tmp335
    tmp337 = tl.full([1], 15, tl.int32)
    tmp338 = tmp0 == tmp337
    tmp341 = tmp339 * tmp340
    tmp342 = tl.where(tmp338, tmp341, tmp6)
    tmp343 = tmp336 + tmp342
    tmp344 = tl.full([1], 14, tl.int32)
    tmp345 = tmp0 == tmp344
    tmp348 = tmp346 * tmp347
    tmp349 = tl.where(tmp345, tmp348, tmp6)
    tmp350 = tmp343 + tmp349
    tmp351 = tl.full([1], 13, tl.int32)
    tmp352 = tmp0 == tmp351
    tmp355 = tmp353 * tmp354
    tmp356 = tl.where(tmp352, tmp355, tmp6)
    tmp357 = tmp350 + tmp356
    tmp358 = tl.full([1], 12, tl.int32)
    tmp359 = tmp0 == tmp358
    tmp362 = tmp360 * tmp361
    tmp363 = tl.where(tmp359, tmp362, tmp6)
    tmp364 = tmp357 + tmp363
    tmp365 = tl.full([1], 11, tl.int32)
    tmp366 = tmp0 == tmp365
    tmp369 = tmp367 * tmp368
    tmp370 = tl.where(tmp366, tmp369, tmp6)
    tmp371 = tmp364 + tmp370
    tmp372 = tl.full([1], 10, tl.int32)
    tmp373 = tmp0 == tmp372
    tmp376 = tmp374 * tmp375
    tmp377 = tl.where(tmp373, tmp376, tmp6)
    tmp378 = tmp371 + tmp377
    tmp379 = tl.full([1], 9, tl.int32)
    tmp380 = tmp0 == tmp379
    tmp383 = tmp381 * tmp382
    tmp384 = tl.where(tmp380, tmp383, tmp6)
    tmp385 = tmp378 + tmp384
    tmp386 = tl.full([1], 8, tl.int32)
    tmp387 = tmp0 == tmp386
    tmp390 = tmp388 * tmp389
    tmp391 = tl.where(tmp387, tmp390, tmp6)
    tmp392 = tmp385 + tmp391
    tmp393 = tl.full([1], 7, tl.int32)
    tmp394 = tmp0 == tmp393
    tmp397 = tmp395 * tmp396
    tmp398 = tl.where(tmp394, tmp397, tmp6)
    tmp399 = tmp392 + tmp398
    tmp400 = tl.full([1], 6, tl.int32)
    tmp401 = tmp0 == tmp400
    tmp404 = tmp402 * tmp403
    tmp405 = tl.where(tmp401, tmp404, tmp6)
    tmp406 = tmp399 + tmp405
    tmp407 = tl.full([1], 5, tl.int32)
    tmp408 = tmp0 == tmp407
    tmp411 = tmp409 * tmp410
    tmp412 = tl.where(tmp408, tmp411, tmp6)
    tmp413 = tmp406 + tmp412
    tmp414 = tl.full([1], 4, tl.int32)
    tmp415 = tmp0 == tmp414
    tmp418 = tmp416 * tmp417
    tmp419 = tl.where(tmp415, tmp418, tmp6)
    tmp420 = tmp413 + tmp419
    tmp421 = tl.full([1], 3, tl.int32)
    tmp422 = tmp0 == tmp421
    tmp425 = tmp423 * tmp424
    tmp426 = tl.where(tmp422, tmp425, tmp6)
    tmp427 = tmp420 + tmp426
    tl.store(in_out_ptr0 + (x3), tmp427, None)
