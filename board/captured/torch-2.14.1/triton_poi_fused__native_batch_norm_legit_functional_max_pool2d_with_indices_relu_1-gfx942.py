import triton
import triton.language as tl


@triton.jit
def triton_poi_fused__native_batch_norm_legit_functional_max_pool2d_with_indices_relu_1(in_ptr0, out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 65536
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x1 = ((xindex // 16) % 16)
    x0 = (xindex % 16)
    x3 = xindex // 16
    x4 = xindex
    tmp0 = ((-1) + 2*x1).to(tl.int32)
    tmp1 = tl.full([1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tl.full([1], 32, tl.int64)
    tmp4 = tmp0 < tmp3
    tmp5 = tmp2 & tmp4
    tmp6 = ((-1) + 2*x0).to(tl.int32)
    tmp7 = tmp6 >= tmp1
    tmp8 = tmp6 < tmp3
    tmp9 = tmp7 & tmp8
    tmp10 = tmp5 & tmp9
    tmp11 = tmp10.to(tl.int1)
    tmp12 = tl.load(in_ptr0 + ((-33) + 2*x0 + 64*x3), tmp11, eviction_policy='evict_last', other=float("-inf"))
    tmp13 = (2*x0).to(tl.int32)
    tmp14 = tmp13 >= tmp1
    tmp15 = tmp13 < tmp3
    tmp16 = tmp14 & tmp15
    tmp17 = tmp5 & tmp16
    tmp18 = tmp17.to(tl.int1)
    tmp19 = tl.load(in_ptr0 + ((-32) + 2*x0 + 64*x3), tmp18, eviction_policy='evict_last', other=float("-inf"))
    tmp20 = tl.maximum(tmp12, tmp19, tl.PropagateNan.ALL)
    tmp21 = (1 + 2*x0).to(tl.int32)
    tmp22 = tmp21 >= tmp1
    tmp23 = tmp21 < tmp3
    tmp24 = tmp22 & tmp23
    tmp25 = tmp5 & tmp24
    tmp26 = tmp25.to(tl.int1)
    tmp27 = tl.load(in_ptr0 + ((-31) + 2*x0 + 64*x3), tmp26, eviction_policy='evict_last', other=float("-inf"))
    tmp28 = tl.maximum(tmp20, tmp27, tl.PropagateNan.ALL)
    tmp29 = (2*x1).to(tl.int32)
    tmp30 = tmp29 >= tmp1
    tmp31 = tmp29 < tmp3
    tmp32 = tmp30 & tmp31
    tmp33 = tmp32 & tmp9
    tmp34 = tmp33.to(tl.int1)
    tmp35 = tl.load(in_ptr0 + ((-1) + 2*x0 + 64*x3), tmp34, eviction_policy='evict_last', other=float("-inf"))
    tmp36 = tl.maximum(tmp28, tmp35, tl.PropagateNan.ALL)
    tmp37 = tmp32 & tmp16
    tmp38 = tmp37.to(tl.int1)
    tmp39 = tl.load(in_ptr0 + (2*x0 + 64*x3), tmp38, eviction_policy='evict_last', other=float("-inf"))
    tmp40 = tl.maximum(tmp36, tmp39, tl.PropagateNan.ALL)
    tmp41 = tmp32 & tmp24
    tmp42 = tmp41.to(tl.int1)
    tmp43 = tl.load(in_ptr0 + (1 + 2*x0 + 64*x3), tmp42, eviction_policy='evict_last', other=float("-inf"))
    tmp44 = tl.maximum(tmp40, tmp43, tl.PropagateNan.ALL)
    tmp45 = (1 + 2*x1).to(tl.int32)
    tmp46 = tmp45 >= tmp1
    tmp47 = tmp45 < tmp3
    tmp48 = tmp46 & tmp47
    tmp49 = tmp48 & tmp9
    tmp50 = tmp49.to(tl.int1)
    tmp51 = tl.load(in_ptr0 + (31 + 2*x0 + 64*x3), tmp50, eviction_policy='evict_last', other=float("-inf"))
    tmp52 = tl.maximum(tmp44, tmp51, tl.PropagateNan.ALL)
    tmp53 = tmp48 & tmp16
    tmp54 = tmp53.to(tl.int1)
    tmp55 = tl.load(in_ptr0 + (32 + 2*x0 + 64*x3), tmp54, eviction_policy='evict_last', other=float("-inf"))
    tmp56 = tl.maximum(tmp52, tmp55, tl.PropagateNan.ALL)
    tmp57 = tmp48 & tmp24
    tmp58 = tmp57.to(tl.int1)
    tmp59 = tl.load(in_ptr0 + (33 + 2*x0 + 64*x3), tmp58, eviction_policy='evict_last', other=float("-inf"))
    tmp60 = tl.maximum(tmp56, tmp59, tl.PropagateNan.ALL)
    tmp61 = tmp12 > tmp19
    tmp62 = tmp12 == tmp19
    tmp63 = tmp12 != tmp12
    tmp64 = tmp19 != tmp19
    tmp65 = tmp63 > tmp64
    tmp66 = tmp61 | tmp65
    tmp67 = tmp63 & tmp64
    tmp68 = tmp62 | tmp67
    tmp69 = tl.full([1], 1, tl.int64)
    tmp70 = tmp1 < tmp69
    tmp71 = tmp68 & tmp70
    tmp72 = tmp66 | tmp71
    tmp73 = tl.where(tmp72, tmp12, tmp19)
    tmp74 = tl.where(tmp72, tmp1, tmp69)
    tmp75 = tmp73 > tmp27
    tmp76 = tmp73 == tmp27
    tmp77 = tmp73 != tmp73
    tmp78 = tmp27 != tmp27
    tmp79 = tmp77 > tmp78
    tmp80 = tmp75 | tmp79
    tmp81 = tmp77 & tmp78
    tmp82 = tmp76 | tmp81
    tmp83 = tl.full([1], 2, tl.int64)
    tmp84 = tmp74 < tmp83
    tmp85 = tmp82 & tmp84
    tmp86 = tmp80 | tmp85
    tmp87 = tl.where(tmp86, tmp73, tmp27)
    tmp88 = tl.where(tmp86, tmp74, tmp83)
    tmp89 = tmp87 > tmp35
    tmp90 = tmp87 == tmp35
    tmp91 = tmp87 != tmp87
    tmp92 = tmp35 != tmp35
    tmp93 = tmp91 > tmp92
    tmp94 = tmp89 | tmp93
    tmp95 = tmp91 & tmp92
    tmp96 = tmp90 | tmp95
    tmp97 = tl.full([1], 3, tl.int64)
    tmp98 = tmp88 < tmp97
    tmp99 = tmp96 & tmp98
    tmp100 = tmp94 | tmp99
    tmp101 = tl.where(tmp100, tmp87, tmp35)
    tmp102 = tl.where(tmp100, tmp88, tmp97)
    tmp103 = tmp101 > tmp39
    tmp104 = tmp101 == tmp39
    tmp105 = tmp101 != tmp101
    tmp106 = tmp39 != tmp39
    tmp107 = tmp105 > tmp106
    tmp108 = tmp103 | tmp107
    tmp109 = tmp105 & tmp106
    tmp110 = tmp104 | tmp109
    tmp111 = tl.full([1], 4, tl.int64)
    tmp112 = tmp102 < tmp111
    tmp113 = tmp110 & tmp112
    tmp114 = tmp108 | tmp113
    tmp115 = tl.where(tmp114, tmp101, tmp39)
    tmp116 = tl.where(tmp114, tmp102, tmp111)
    tmp117 = tmp115 > tmp43
    tmp118 = tmp115 == tmp43
    tmp119 = tmp115 != tmp115
    tmp120 = tmp43 != tmp43
    tmp121 = tmp119 > tmp120
    tmp122 = tmp117 | tmp121
    tmp123 = tmp119 & tmp120
    tmp124 = tmp118 | tmp123
    tmp125 = tl.full([1], 5, tl.int64)
    tmp126 = tmp116 < tmp125
    tmp127 = tmp124 & tmp126
    tmp128 = tmp122 | tmp127
    tmp129 = tl.where(tmp128, tmp115, tmp43)
    tmp130 = tl.where(tmp128, tmp116, tmp125)
    tmp131 = tmp129 > tmp51
    tmp132 = tmp129 == tmp51
    tmp133 = tmp129 != tmp129
    tmp134 = tmp51 != tmp51
    tmp135 = tmp133 > tmp134
    tmp136 = tmp131 | tmp135
    tmp137 = tmp133 & tmp134
    tmp138 = tmp132 | tmp137
    tmp139 = tl.full([1], 6, tl.int64)
    tmp140 = tmp130 < tmp139
    tmp141 = tmp138 & tmp140
    tmp142 = tmp136 | tmp141
    tmp143 = tl.where(tmp142, tmp129, tmp51)
    tmp144 = tl.where(tmp142, tmp130, tmp139)
    tmp145 = tmp143 > tmp55
    tmp146 = tmp143 == tmp55
    tmp147 = tmp143 != tmp143
    tmp148 = tmp55 != tmp55
    tmp149 = tmp147 > tmp148
    tmp150 = tmp145 | tmp149
    tmp151 = tmp147 & tmp148
    tmp152 = tmp146 | tmp151
    tmp153 = tl.full([1], 7, tl.int64)
    tmp154 = tmp144 < tmp153
    tmp155 = tmp152 & tmp154
    tmp156 = tmp150 | tmp155
    tmp157 = tl.where(tmp156, tmp143, tmp55)
    tmp158 = tl.where(tmp156, tmp144, tmp153)
    tmp159 = tmp157 > tmp59
    tmp160 = tmp157 == tmp59
    tmp161 = tmp157 != tmp157
    tmp162 = tmp59 != tmp59
    tmp163 = tmp161 > tmp162
    tmp164 = tmp159 | tmp163
    tmp165 = tmp161 & tmp162
    tmp166 = tmp160 | tmp165
    tmp167 = tl.full([1], 8, tl.int64)
    tmp168 = tmp158 < tmp167
    tmp169 = tmp166 & tmp168
    tmp170 = tmp164 | tmp169
    tmp171 = tl.where(tmp170, tmp157, tmp59)
    tmp172 = tl.where(tmp170, tmp158, tmp167)
    tmp173 = tmp172.to(tl.int8)
    tl.store(out_ptr0 + (x4), tmp60, None)
    tl.store(out_ptr1 + (x4), tmp173, None)
