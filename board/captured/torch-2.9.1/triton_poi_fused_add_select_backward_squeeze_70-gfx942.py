import triton
import triton.language as tl


@triton.jit
def triton_poi_fused_add_select_backward_squeeze_70(in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, in_ptr8, in_ptr9, in_ptr10, in_ptr11, in_ptr12, in_ptr13, in_ptr14, in_ptr15, in_ptr16, in_ptr17, in_ptr18, in_ptr19, in_ptr20, in_ptr21, in_ptr22, in_ptr23, in_ptr24, in_ptr25, in_ptr26, in_ptr27, in_ptr28, in_ptr29, in_ptr30, in_ptr31, in_ptr32, in_ptr33, in_ptr34, in_ptr35, in_ptr36, in_ptr37, in_ptr38, in_ptr39, in_ptr40, in_ptr41, in_ptr42, in_ptr43, in_ptr44, in_ptr45, in_ptr46, in_ptr47, in_ptr48, in_ptr49, in_ptr50, in_ptr51, in_ptr52, in_ptr53, in_ptr54, in_ptr55, in_ptr56, in_ptr57, in_ptr58, in_ptr59, in_ptr60, in_ptr61, in_ptr62, in_ptr63, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 4096
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)
    x1 = ((xindex // 16) % 64)
    x0 = (xindex % 16)
    x2 = xindex // 1024
    x3 = xindex
    x4 = xindex // 16
    tmp3 = tl.load(in_ptr0 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp8 = tl.load(in_ptr1 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp13 = tl.load(in_ptr2 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp18 = tl.load(in_ptr3 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp23 = tl.load(in_ptr4 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp28 = tl.load(in_ptr5 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp33 = tl.load(in_ptr6 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp38 = tl.load(in_ptr7 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp43 = tl.load(in_ptr8 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp48 = tl.load(in_ptr9 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp53 = tl.load(in_ptr10 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp58 = tl.load(in_ptr11 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp63 = tl.load(in_ptr12 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp68 = tl.load(in_ptr13 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp73 = tl.load(in_ptr14 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp78 = tl.load(in_ptr15 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp83 = tl.load(in_ptr16 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp88 = tl.load(in_ptr17 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp93 = tl.load(in_ptr18 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp98 = tl.load(in_ptr19 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp103 = tl.load(in_ptr20 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp108 = tl.load(in_ptr21 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp113 = tl.load(in_ptr22 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp118 = tl.load(in_ptr23 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp123 = tl.load(in_ptr24 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp128 = tl.load(in_ptr25 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp133 = tl.load(in_ptr26 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp138 = tl.load(in_ptr27 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp143 = tl.load(in_ptr28 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp148 = tl.load(in_ptr29 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp153 = tl.load(in_ptr30 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp158 = tl.load(in_ptr31 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp163 = tl.load(in_ptr32 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp168 = tl.load(in_ptr33 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp173 = tl.load(in_ptr34 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp178 = tl.load(in_ptr35 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp183 = tl.load(in_ptr36 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp188 = tl.load(in_ptr37 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp193 = tl.load(in_ptr38 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp198 = tl.load(in_ptr39 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp203 = tl.load(in_ptr40 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp208 = tl.load(in_ptr41 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp213 = tl.load(in_ptr42 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp218 = tl.load(in_ptr43 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp223 = tl.load(in_ptr44 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp228 = tl.load(in_ptr45 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp233 = tl.load(in_ptr46 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp238 = tl.load(in_ptr47 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp243 = tl.load(in_ptr48 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp248 = tl.load(in_ptr49 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp253 = tl.load(in_ptr50 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp258 = tl.load(in_ptr51 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp263 = tl.load(in_ptr52 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp268 = tl.load(in_ptr53 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp273 = tl.load(in_ptr54 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp278 = tl.load(in_ptr55 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp283 = tl.load(in_ptr56 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp288 = tl.load(in_ptr57 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp293 = tl.load(in_ptr58 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp298 = tl.load(in_ptr59 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp303 = tl.load(in_ptr60 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp308 = tl.load(in_ptr61 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp313 = tl.load(in_ptr62 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp318 = tl.load(in_ptr63 + (x0 + 16*x2), None, eviction_policy='evict_last')
    tmp0 = x1
    tmp1 = tl.full([1], 63, tl.int32)
    tmp2 = tmp0 == tmp1
    tmp4 = 0.0
    tmp5 = tl.where(tmp2, tmp3, tmp4)
    tmp6 = tl.full([1], 62, tl.int32)
    tmp7 = tmp0 == tmp6
    tmp9 = tl.where(tmp7, tmp8, tmp4)
    tmp10 = tmp5 + tmp9
    tmp11 = tl.full([1], 61, tl.int32)
    tmp12 = tmp0 == tmp11
    tmp14 = tl.where(tmp12, tmp13, tmp4)
    tmp15 = tmp10 + tmp14
    tmp16 = tl.full([1], 60, tl.int32)
    tmp17 = tmp0 == tmp16
    tmp19 = tl.where(tmp17, tmp18, tmp4)
    tmp20 = tmp15 + tmp19
    tmp21 = tl.full([1], 59, tl.int32)
    tmp22 = tmp0 == tmp21
    tmp24 = tl.where(tmp22, tmp23, tmp4)
    tmp25 = tmp20 + tmp24
    tmp26 = tl.full([1], 58, tl.int32)
    tmp27 = tmp0 == tmp26
    tmp29 = tl.where(tmp27, tmp28, tmp4)
    tmp30 = tmp25 + tmp29
    tmp31 = tl.full([1], 57, tl.int32)
    tmp32 = tmp0 == tmp31
    tmp34 = tl.where(tmp32, tmp33, tmp4)
    tmp35 = tmp30 + tmp34
    tmp36 = tl.full([1], 56, tl.int32)
    tmp37 = tmp0 == tmp36
    tmp39 = tl.where(tmp37, tmp38, tmp4)
    tmp40 = tmp35 + tmp39
    tmp41 = tl.full([1], 55, tl.int32)
    tmp42 = tmp0 == tmp41
    tmp44 = tl.where(tmp42, tmp43, tmp4)
    tmp45 = tmp40 + tmp44
    tmp46 = tl.full([1], 54, tl.int32)
    tmp47 = tmp0 == tmp46
    tmp49 = tl.where(tmp47, tmp48, tmp4)
    tmp50 = tmp45 + tmp49
    tmp51 = tl.full([1], 53, tl.int32)
    tmp52 = tmp0 == tmp51
    tmp54 = tl.where(tmp52, tmp53, tmp4)
    tmp55 = tmp50 + tmp54
    tmp56 = tl.full([1], 52, tl.int32)
    tmp57 = tmp0 == tmp56
    tmp59 = tl.where(tmp57, tmp58, tmp4)
    tmp60 = tmp55 + tmp59
    tmp61 = tl.full([1], 51, tl.int32)
    tmp62 = tmp0 == tmp61
    tmp64 = tl.where(tmp62, tmp63, tmp4)
    tmp65 = tmp60 + tmp64
    tmp66 = tl.full([1], 50, tl.int32)
    tmp67 = tmp0 == tmp66
    tmp69 = tl.where(tmp67, tmp68, tmp4)
    tmp70 = tmp65 + tmp69
    tmp71 = tl.full([1], 49, tl.int32)
    tmp72 = tmp0 == tmp71
    tmp74 = tl.where(tmp72, tmp73, tmp4)
    tmp75 = tmp70 + tmp74
    tmp76 = tl.full([1], 48, tl.int32)
    tmp77 = tmp0 == tmp76
    tmp79 = tl.where(tmp77, tmp78, tmp4)
    tmp80 = tmp75 + tmp79
    tmp81 = tl.full([1], 47, tl.int32)
    tmp82 = tmp0 == tmp81
    tmp84 = tl.where(tmp82, tmp83, tmp4)
    tmp85 = tmp80 + tmp84
    tmp86 = tl.full([1], 46, tl.int32)
    tmp87 = tmp0 == tmp86
    tmp89 = tl.where(tmp87, tmp88, tmp4)
    tmp90 = tmp85 + tmp89
    tmp91 = tl.full([1], 45, tl.int32)
    tmp92 = tmp0 == tmp91
    tmp94 = tl.where(tmp92, tmp93, tmp4)
    tmp95 = tmp90 + tmp94
    tmp96 = tl.full([1], 44, tl.int32)
    tmp97 = tmp0 == tmp96
    tmp99 = tl.where(tmp97, tmp98, tmp4)
    tmp100 = tmp95 + tmp99
    tmp101 = tl.full([1], 43, tl.int32)
    tmp102 = tmp0 == tmp101
    tmp104 = tl.where(tmp102, tmp103, tmp4)
    tmp105 = tmp100 + tmp104
    tmp106 = tl.full([1], 42, tl.int32)
    tmp107 = tmp0 == tmp106
    tmp109 = tl.where(tmp107, tmp108, tmp4)
    tmp110 = tmp105 + tmp109
    tmp111 = tl.full([1], 41, tl.int32)
    tmp112 = tmp0 == tmp111
    tmp114 = tl.where(tmp112, tmp113, tmp4)
    tmp115 = tmp110 + tmp114
    tmp116 = tl.full([1], 40, tl.int32)
    tmp117 = tmp0 == tmp116
    tmp119 = tl.where(tmp117, tmp118, tmp4)
    tmp120 = tmp115 + tmp119
    tmp121 = tl.full([1], 39, tl.int32)
    tmp122 = tmp0 == tmp121
    tmp124 = tl.where(tmp122, tmp123, tmp4)
    tmp125 = tmp120 + tmp124
    tmp126 = tl.full([1], 38, tl.int32)
    tmp127 = tmp0 == tmp126
    tmp129 = tl.where(tmp127, tmp128, tmp4)
    tmp130 = tmp125 + tmp129
    tmp131 = tl.full([1], 37, tl.int32)
    tmp132 = tmp0 == tmp131
    tmp134 = tl.where(tmp132, tmp133, tmp4)
    tmp135 = tmp130 + tmp134
    tmp136 = tl.full([1], 36, tl.int32)
    tmp137 = tmp0 == tmp136
    tmp139 = tl.where(tmp137, tmp138, tmp4)
    tmp140 = tmp135 + tmp139
    tmp141 = tl.full([1], 35, tl.int32)
    tmp142 = tmp0 == tmp141
    tmp144 = tl.where(tmp142, tmp143, tmp4)
    tmp145 = tmp140 + tmp144
    tmp146 = tl.full([1], 34, tl.int32)
    tmp147 = tmp0 == tmp146
    tmp149 = tl.where(tmp147, tmp148, tmp4)
    tmp150 = tmp145 + tmp149
    tmp151 = tl.full([1], 33, tl.int32)
    tmp152 = tmp0 == tmp151
    tmp154 = tl.where(tmp152, tmp153, tmp4)
    tmp155 = tmp150 + tmp154
    tmp156 = tl.full([1], 32, tl.int32)
    tmp157 = tmp0 == tmp156
    tmp159 = tl.where(tmp157, tmp158, tmp4)
    tmp160 = tmp155 + tmp159
    tmp161 = tl.full([1], 31, tl.int32)
    tmp162 = tmp0 == tmp161
    tmp164 = tl.where(tmp162, tmp163, tmp4)
    tmp165 = tmp160 + tmp164
    tmp166 = tl.full([1], 30, tl.int32)
    tmp167 = tmp0 == tmp166
    tmp169 = tl.where(tmp167, tmp168, tmp4)
    tmp170 = tmp165 + tmp169
    tmp171 = tl.full([1], 29, tl.int32)
    tmp172 = tmp0 == tmp171
    tmp174 = tl.where(tmp172, tmp173, tmp4)
    tmp175 = tmp170 + tmp174
    tmp176 = tl.full([1], 28, tl.int32)
    tmp177 = tmp0 == tmp176
    tmp179 = tl.where(tmp177, tmp178, tmp4)
    tmp180 = tmp175 + tmp179
    tmp181 = tl.full([1], 27, tl.int32)
    tmp182 = tmp0 == tmp181
    tmp184 = tl.where(tmp182, tmp183, tmp4)
    tmp185 = tmp180 + tmp184
    tmp186 = tl.full([1], 26, tl.int32)
    tmp187 = tmp0 == tmp186
    tmp189 = tl.where(tmp187, tmp188, tmp4)
    tmp190 = tmp185 + tmp189
    tmp191 = tl.full([1], 25, tl.int32)
    tmp192 = tmp0 == tmp191
    tmp194 = tl.where(tmp192, tmp193, tmp4)
    tmp195 = tmp190 + tmp194
    tmp196 = tl.full([1], 24, tl.int32)
    tmp197 = tmp0 == tmp196
    tmp199 = tl.where(tmp197, tmp198, tmp4)
    tmp200 = tmp195 + tmp199
    tmp201 = tl.full([1], 23, tl.int32)
    tmp202 = tmp0 == tmp201
    tmp204 = tl.where(tmp202, tmp203, tmp4)
    tmp205 = tmp200 + tmp204
    tmp206 = tl.full([1], 22, tl.int32)
    tmp207 = tmp0 == tmp206
    tmp209 = tl.where(tmp207, tmp208, tmp4)
    tmp210 = tmp205 + tmp209
    tmp211 = tl.full([1], 21, tl.int32)
    tmp212 = tmp0 == tmp211
    tmp214 = tl.where(tmp212, tmp213, tmp4)
    tmp215 = tmp210 + tmp214
    tmp216 = tl.full([1], 20, tl.int32)
    tmp217 = tmp0 == tmp216
    tmp219 = tl.where(tmp217, tmp218, tmp4)
    tmp220 = tmp215 + tmp219
    tmp221 = tl.full([1], 19, tl.int32)
    tmp222 = tmp0 == tmp221
    tmp224 = tl.where(tmp222, tmp223, tmp4)
    tmp225 = tmp220 + tmp224
    tmp226 = tl.full([1], 18, tl.int32)
    tmp227 = tmp0 == tmp226
    tmp229 = tl.where(tmp227, tmp228, tmp4)
    tmp230 = tmp225 + tmp229
    tmp231 = tl.full([1], 17, tl.int32)
    tmp232 = tmp0 == tmp231
    tmp234 = tl.where(tmp232, tmp233, tmp4)
    tmp235 = tmp230 + tmp234
    tmp236 = tl.full([1], 16, tl.int32)
    tmp237 = tmp0 == tmp236
    tmp239 = tl.where(tmp237, tmp238, tmp4)
    tmp240 = tmp235 + tmp239
    tmp241 = tl.full([1], 15, tl.int32)
    tmp242 = tmp0 == tmp241
    tmp244 = tl.where(tmp242, tmp243, tmp4)
    tmp245 = tmp240 + tmp244
    tmp246 = tl.full([1], 14, tl.int32)
    tmp247 = tmp0 == tmp246
    tmp249 = tl.where(tmp247, tmp248, tmp4)
    tmp250 = tmp245 + tmp249
    tmp251 = tl.full([1], 13, tl.int32)
    tmp252 = tmp0 == tmp251
    tmp254 = tl.where(tmp252, tmp253, tmp4)
    tmp255 = tmp250 + tmp254
    tmp256 = tl.full([1], 12, tl.int32)
    tmp257 = tmp0 == tmp256
    tmp259 = tl.where(tmp257, tmp258, tmp4)
    tmp260 = tmp255 + tmp259
    tmp261 = tl.full([1], 11, tl.int32)
    tmp262 = tmp0 == tmp261
    tmp264 = tl.where(tmp262, tmp263, tmp4)
    tmp265 = tmp260 + tmp264
    tmp266 = tl.full([1], 10, tl.int32)
    tmp267 = tmp0 == tmp266
    tmp269 = tl.where(tmp267, tmp268, tmp4)
    tmp270 = tmp265 + tmp269
    tmp271 = tl.full([1], 9, tl.int32)
    tmp272 = tmp0 == tmp271
    tmp274 = tl.where(tmp272, tmp273, tmp4)
    tmp275 = tmp270 + tmp274
    tmp276 = tl.full([1], 8, tl.int32)
    tmp277 = tmp0 == tmp276
    tmp279 = tl.where(tmp277, tmp278, tmp4)
    tmp280 = tmp275 + tmp279
    tmp281 = tl.full([1], 7, tl.int32)
    tmp282 = tmp0 == tmp281
    tmp284 = tl.where(tmp282, tmp283, tmp4)
    tmp285 = tmp280 + tmp284
    tmp286 = tl.full([1], 6, tl.int32)
    tmp287 = tmp0 == tmp286
    tmp289 = tl.where(tmp287, tmp288, tmp4)
    tmp290 = tmp285 + tmp289
    tmp291 = tl.full([1], 5, tl.int32)
    tmp292 = tmp0 == tmp291
    tmp294 = tl.where(tmp292, tmp293, tmp4)
    tmp295 = tmp290 + tmp294
    tmp296 = tl.full([1], 4, tl.int32)
    tmp297 = tmp0 == tmp296
    tmp299 = tl.where(tmp297, tmp298, tmp4)
    tmp300 = tmp295 + tmp299
    tmp301 = tl.full([1], 3, tl.int32)
    tmp302 = tmp0 == tmp301
    tmp304 = tl.where(tmp302, tmp303, tmp4)
    tmp305 = tmp300 + tmp304
    tmp306 = tl.full([1], 2, tl.int32)
    tmp307 = tmp0 == tmp306
    tmp309 = tl.where(tmp307, tmp308, tmp4)
    tmp310 = tmp305 + tmp309
    tmp311 = tl.full([1], 1, tl.int32)
    tmp312 = tmp0 == tmp311
    tmp314 = tl.where(tmp312, tmp313, tmp4)
    tmp315 = tmp310 + tmp314
    tmp316 = tl.full([1], 0, tl.int32)
    tmp317 = tmp0 == tmp316
    tmp319 = tl.where(tmp317, tmp318, tmp4)
    tmp320 = tmp315 + tmp319
    tl.store(out_ptr0 + (x0 + 36*x4), tmp320, None)
