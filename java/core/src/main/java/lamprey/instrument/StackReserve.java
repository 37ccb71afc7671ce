package lamprey.instrument;

/**
 * Stack that leaving a monitor will need, looked for before it is entered.
 *
 * <p>The JVM's own monitors are left without stack. Those of transformed code are left by a call, in a handler if an error is thrown; where the stack has just
 * ended, that call would overflow it again: the monitor would stay owned for ever, or a part of the table locked. The handler runs in the frame that has entered. So
 * if there was room for {@link #look}'s frame below that one, there is room for the call that leaves and for what a handler does before it. Where there is not, entering
 * throws its {@link StackOverflowError} before it has changed anything.
 *
 * <p><b>How.</b> The JVM looks for the room of a method's frame as the method begins. Interpreted, the frame has room for all local variables of the method; compiled, for
 * those that are live at the same time in the parts that run at least sometimes. So one call of 1,024 makes all of {@link #look}'s variables live at once: read
 * one after the other from a volatile field, then stored, which no compiler may interleave. Compiled code looks in steps of a page, and not for a frame that is smaller: of one frame
 * alone up to a page would be missing. So each call makes another one, whose frame begins where the first one ends; the method is too large to be inlined.
 *
 * <p><b>Rejected.</b> To notice that leaving has failed, and mend it later: where there is no room for a call, nothing can be noted down but in the generated handlers, and the
 * lock is missing until then. A recursion of small frames: 40 ns for each monitor.
 */
final class StackReserve {
    private static final long[] TO = new long[448];
    private static volatile long from;

    private StackReserve() {}

    /**
     * Looks for about 3.6 KB.
     *
     * @param count of the calls, about
     * @throws StackOverflowError if they are not there
     */
    static void look(int count) {
        look(count, false);
    }

    private static void look(int count, boolean isBelow) {
        if (!isBelow) {
            look(count, true);
            return;
        }
        if ((count & 1023) != 0) {
            return;
        }
        long[] to = TO;
        long n0 = from, n1 = from, n2 = from, n3 = from, n4 = from, n5 = from, n6 = from, n7 = from;
        long n8 = from, n9 = from, n10 = from, n11 = from, n12 = from, n13 = from, n14 = from, n15 = from;
        long n16 = from, n17 = from, n18 = from, n19 = from, n20 = from, n21 = from, n22 = from, n23 = from;
        long n24 = from, n25 = from, n26 = from, n27 = from, n28 = from, n29 = from, n30 = from, n31 = from;
        long n32 = from, n33 = from, n34 = from, n35 = from, n36 = from, n37 = from, n38 = from, n39 = from;
        long n40 = from, n41 = from, n42 = from, n43 = from, n44 = from, n45 = from, n46 = from, n47 = from;
        long n48 = from, n49 = from, n50 = from, n51 = from, n52 = from, n53 = from, n54 = from, n55 = from;
        long n56 = from, n57 = from, n58 = from, n59 = from, n60 = from, n61 = from, n62 = from, n63 = from;
        long n64 = from, n65 = from, n66 = from, n67 = from, n68 = from, n69 = from, n70 = from, n71 = from;
        long n72 = from, n73 = from, n74 = from, n75 = from, n76 = from, n77 = from, n78 = from, n79 = from;
        long n80 = from, n81 = from, n82 = from, n83 = from, n84 = from, n85 = from, n86 = from, n87 = from;
        long n88 = from, n89 = from, n90 = from, n91 = from, n92 = from, n93 = from, n94 = from, n95 = from;
        long n96 = from, n97 = from, n98 = from, n99 = from, n100 = from, n101 = from, n102 = from, n103 = from;
        long n104 = from, n105 = from, n106 = from, n107 = from, n108 = from, n109 = from, n110 = from, n111 = from;
        long n112 = from, n113 = from, n114 = from, n115 = from, n116 = from, n117 = from, n118 = from, n119 = from;
        long n120 = from, n121 = from, n122 = from, n123 = from, n124 = from, n125 = from, n126 = from, n127 = from;
        long n128 = from, n129 = from, n130 = from, n131 = from, n132 = from, n133 = from, n134 = from, n135 = from;
        long n136 = from, n137 = from, n138 = from, n139 = from, n140 = from, n141 = from, n142 = from, n143 = from;
        long n144 = from, n145 = from, n146 = from, n147 = from, n148 = from, n149 = from, n150 = from, n151 = from;
        long n152 = from, n153 = from, n154 = from, n155 = from, n156 = from, n157 = from, n158 = from, n159 = from;
        long n160 = from, n161 = from, n162 = from, n163 = from, n164 = from, n165 = from, n166 = from, n167 = from;
        long n168 = from, n169 = from, n170 = from, n171 = from, n172 = from, n173 = from, n174 = from, n175 = from;
        long n176 = from, n177 = from, n178 = from, n179 = from, n180 = from, n181 = from, n182 = from, n183 = from;
        long n184 = from, n185 = from, n186 = from, n187 = from, n188 = from, n189 = from, n190 = from, n191 = from;
        long n192 = from, n193 = from, n194 = from, n195 = from, n196 = from, n197 = from, n198 = from, n199 = from;
        long n200 = from, n201 = from, n202 = from, n203 = from, n204 = from, n205 = from, n206 = from, n207 = from;
        long n208 = from, n209 = from, n210 = from, n211 = from, n212 = from, n213 = from, n214 = from, n215 = from;
        long n216 = from, n217 = from, n218 = from, n219 = from, n220 = from, n221 = from, n222 = from, n223 = from;
        long n224 = from, n225 = from, n226 = from, n227 = from, n228 = from, n229 = from, n230 = from, n231 = from;
        long n232 = from, n233 = from, n234 = from, n235 = from, n236 = from, n237 = from, n238 = from, n239 = from;
        long n240 = from, n241 = from, n242 = from, n243 = from, n244 = from, n245 = from, n246 = from, n247 = from;
        long n248 = from, n249 = from, n250 = from, n251 = from, n252 = from, n253 = from, n254 = from, n255 = from;
        long n256 = from, n257 = from, n258 = from, n259 = from, n260 = from, n261 = from, n262 = from, n263 = from;
        long n264 = from, n265 = from, n266 = from, n267 = from, n268 = from, n269 = from, n270 = from, n271 = from;
        long n272 = from, n273 = from, n274 = from, n275 = from, n276 = from, n277 = from, n278 = from, n279 = from;
        long n280 = from, n281 = from, n282 = from, n283 = from, n284 = from, n285 = from, n286 = from, n287 = from;
        long n288 = from, n289 = from, n290 = from, n291 = from, n292 = from, n293 = from, n294 = from, n295 = from;
        long n296 = from, n297 = from, n298 = from, n299 = from, n300 = from, n301 = from, n302 = from, n303 = from;
        long n304 = from, n305 = from, n306 = from, n307 = from, n308 = from, n309 = from, n310 = from, n311 = from;
        long n312 = from, n313 = from, n314 = from, n315 = from, n316 = from, n317 = from, n318 = from, n319 = from;
        long n320 = from, n321 = from, n322 = from, n323 = from, n324 = from, n325 = from, n326 = from, n327 = from;
        long n328 = from, n329 = from, n330 = from, n331 = from, n332 = from, n333 = from, n334 = from, n335 = from;
        long n336 = from, n337 = from, n338 = from, n339 = from, n340 = from, n341 = from, n342 = from, n343 = from;
        long n344 = from, n345 = from, n346 = from, n347 = from, n348 = from, n349 = from, n350 = from, n351 = from;
        long n352 = from, n353 = from, n354 = from, n355 = from, n356 = from, n357 = from, n358 = from, n359 = from;
        long n360 = from, n361 = from, n362 = from, n363 = from, n364 = from, n365 = from, n366 = from, n367 = from;
        long n368 = from, n369 = from, n370 = from, n371 = from, n372 = from, n373 = from, n374 = from, n375 = from;
        long n376 = from, n377 = from, n378 = from, n379 = from, n380 = from, n381 = from, n382 = from, n383 = from;
        long n384 = from, n385 = from, n386 = from, n387 = from, n388 = from, n389 = from, n390 = from, n391 = from;
        long n392 = from, n393 = from, n394 = from, n395 = from, n396 = from, n397 = from, n398 = from, n399 = from;
        long n400 = from, n401 = from, n402 = from, n403 = from, n404 = from, n405 = from, n406 = from, n407 = from;
        long n408 = from, n409 = from, n410 = from, n411 = from, n412 = from, n413 = from, n414 = from, n415 = from;
        long n416 = from, n417 = from, n418 = from, n419 = from, n420 = from, n421 = from, n422 = from, n423 = from;
        long n424 = from, n425 = from, n426 = from, n427 = from, n428 = from, n429 = from, n430 = from, n431 = from;
        long n432 = from, n433 = from, n434 = from, n435 = from, n436 = from, n437 = from, n438 = from, n439 = from;
        long n440 = from, n441 = from, n442 = from, n443 = from, n444 = from, n445 = from, n446 = from, n447 = from;
        to[0] = n0; to[1] = n1; to[2] = n2; to[3] = n3;
        to[4] = n4; to[5] = n5; to[6] = n6; to[7] = n7;
        to[8] = n8; to[9] = n9; to[10] = n10; to[11] = n11;
        to[12] = n12; to[13] = n13; to[14] = n14; to[15] = n15;
        to[16] = n16; to[17] = n17; to[18] = n18; to[19] = n19;
        to[20] = n20; to[21] = n21; to[22] = n22; to[23] = n23;
        to[24] = n24; to[25] = n25; to[26] = n26; to[27] = n27;
        to[28] = n28; to[29] = n29; to[30] = n30; to[31] = n31;
        to[32] = n32; to[33] = n33; to[34] = n34; to[35] = n35;
        to[36] = n36; to[37] = n37; to[38] = n38; to[39] = n39;
        to[40] = n40; to[41] = n41; to[42] = n42; to[43] = n43;
        to[44] = n44; to[45] = n45; to[46] = n46; to[47] = n47;
        to[48] = n48; to[49] = n49; to[50] = n50; to[51] = n51;
        to[52] = n52; to[53] = n53; to[54] = n54; to[55] = n55;
        to[56] = n56; to[57] = n57; to[58] = n58; to[59] = n59;
        to[60] = n60; to[61] = n61; to[62] = n62; to[63] = n63;
        to[64] = n64; to[65] = n65; to[66] = n66; to[67] = n67;
        to[68] = n68; to[69] = n69; to[70] = n70; to[71] = n71;
        to[72] = n72; to[73] = n73; to[74] = n74; to[75] = n75;
        to[76] = n76; to[77] = n77; to[78] = n78; to[79] = n79;
        to[80] = n80; to[81] = n81; to[82] = n82; to[83] = n83;
        to[84] = n84; to[85] = n85; to[86] = n86; to[87] = n87;
        to[88] = n88; to[89] = n89; to[90] = n90; to[91] = n91;
        to[92] = n92; to[93] = n93; to[94] = n94; to[95] = n95;
        to[96] = n96; to[97] = n97; to[98] = n98; to[99] = n99;
        to[100] = n100; to[101] = n101; to[102] = n102; to[103] = n103;
        to[104] = n104; to[105] = n105; to[106] = n106; to[107] = n107;
        to[108] = n108; to[109] = n109; to[110] = n110; to[111] = n111;
        to[112] = n112; to[113] = n113; to[114] = n114; to[115] = n115;
        to[116] = n116; to[117] = n117; to[118] = n118; to[119] = n119;
        to[120] = n120; to[121] = n121; to[122] = n122; to[123] = n123;
        to[124] = n124; to[125] = n125; to[126] = n126; to[127] = n127;
        to[128] = n128; to[129] = n129; to[130] = n130; to[131] = n131;
        to[132] = n132; to[133] = n133; to[134] = n134; to[135] = n135;
        to[136] = n136; to[137] = n137; to[138] = n138; to[139] = n139;
        to[140] = n140; to[141] = n141; to[142] = n142; to[143] = n143;
        to[144] = n144; to[145] = n145; to[146] = n146; to[147] = n147;
        to[148] = n148; to[149] = n149; to[150] = n150; to[151] = n151;
        to[152] = n152; to[153] = n153; to[154] = n154; to[155] = n155;
        to[156] = n156; to[157] = n157; to[158] = n158; to[159] = n159;
        to[160] = n160; to[161] = n161; to[162] = n162; to[163] = n163;
        to[164] = n164; to[165] = n165; to[166] = n166; to[167] = n167;
        to[168] = n168; to[169] = n169; to[170] = n170; to[171] = n171;
        to[172] = n172; to[173] = n173; to[174] = n174; to[175] = n175;
        to[176] = n176; to[177] = n177; to[178] = n178; to[179] = n179;
        to[180] = n180; to[181] = n181; to[182] = n182; to[183] = n183;
        to[184] = n184; to[185] = n185; to[186] = n186; to[187] = n187;
        to[188] = n188; to[189] = n189; to[190] = n190; to[191] = n191;
        to[192] = n192; to[193] = n193; to[194] = n194; to[195] = n195;
        to[196] = n196; to[197] = n197; to[198] = n198; to[199] = n199;
        to[200] = n200; to[201] = n201; to[202] = n202; to[203] = n203;
        to[204] = n204; to[205] = n205; to[206] = n206; to[207] = n207;
        to[208] = n208; to[209] = n209; to[210] = n210; to[211] = n211;
        to[212] = n212; to[213] = n213; to[214] = n214; to[215] = n215;
        to[216] = n216; to[217] = n217; to[218] = n218; to[219] = n219;
        to[220] = n220; to[221] = n221; to[222] = n222; to[223] = n223;
        to[224] = n224; to[225] = n225; to[226] = n226; to[227] = n227;
        to[228] = n228; to[229] = n229; to[230] = n230; to[231] = n231;
        to[232] = n232; to[233] = n233; to[234] = n234; to[235] = n235;
        to[236] = n236; to[237] = n237; to[238] = n238; to[239] = n239;
        to[240] = n240; to[241] = n241; to[242] = n242; to[243] = n243;
        to[244] = n244; to[245] = n245; to[246] = n246; to[247] = n247;
        to[248] = n248; to[249] = n249; to[250] = n250; to[251] = n251;
        to[252] = n252; to[253] = n253; to[254] = n254; to[255] = n255;
        to[256] = n256; to[257] = n257; to[258] = n258; to[259] = n259;
        to[260] = n260; to[261] = n261; to[262] = n262; to[263] = n263;
        to[264] = n264; to[265] = n265; to[266] = n266; to[267] = n267;
        to[268] = n268; to[269] = n269; to[270] = n270; to[271] = n271;
        to[272] = n272; to[273] = n273; to[274] = n274; to[275] = n275;
        to[276] = n276; to[277] = n277; to[278] = n278; to[279] = n279;
        to[280] = n280; to[281] = n281; to[282] = n282; to[283] = n283;
        to[284] = n284; to[285] = n285; to[286] = n286; to[287] = n287;
        to[288] = n288; to[289] = n289; to[290] = n290; to[291] = n291;
        to[292] = n292; to[293] = n293; to[294] = n294; to[295] = n295;
        to[296] = n296; to[297] = n297; to[298] = n298; to[299] = n299;
        to[300] = n300; to[301] = n301; to[302] = n302; to[303] = n303;
        to[304] = n304; to[305] = n305; to[306] = n306; to[307] = n307;
        to[308] = n308; to[309] = n309; to[310] = n310; to[311] = n311;
        to[312] = n312; to[313] = n313; to[314] = n314; to[315] = n315;
        to[316] = n316; to[317] = n317; to[318] = n318; to[319] = n319;
        to[320] = n320; to[321] = n321; to[322] = n322; to[323] = n323;
        to[324] = n324; to[325] = n325; to[326] = n326; to[327] = n327;
        to[328] = n328; to[329] = n329; to[330] = n330; to[331] = n331;
        to[332] = n332; to[333] = n333; to[334] = n334; to[335] = n335;
        to[336] = n336; to[337] = n337; to[338] = n338; to[339] = n339;
        to[340] = n340; to[341] = n341; to[342] = n342; to[343] = n343;
        to[344] = n344; to[345] = n345; to[346] = n346; to[347] = n347;
        to[348] = n348; to[349] = n349; to[350] = n350; to[351] = n351;
        to[352] = n352; to[353] = n353; to[354] = n354; to[355] = n355;
        to[356] = n356; to[357] = n357; to[358] = n358; to[359] = n359;
        to[360] = n360; to[361] = n361; to[362] = n362; to[363] = n363;
        to[364] = n364; to[365] = n365; to[366] = n366; to[367] = n367;
        to[368] = n368; to[369] = n369; to[370] = n370; to[371] = n371;
        to[372] = n372; to[373] = n373; to[374] = n374; to[375] = n375;
        to[376] = n376; to[377] = n377; to[378] = n378; to[379] = n379;
        to[380] = n380; to[381] = n381; to[382] = n382; to[383] = n383;
        to[384] = n384; to[385] = n385; to[386] = n386; to[387] = n387;
        to[388] = n388; to[389] = n389; to[390] = n390; to[391] = n391;
        to[392] = n392; to[393] = n393; to[394] = n394; to[395] = n395;
        to[396] = n396; to[397] = n397; to[398] = n398; to[399] = n399;
        to[400] = n400; to[401] = n401; to[402] = n402; to[403] = n403;
        to[404] = n404; to[405] = n405; to[406] = n406; to[407] = n407;
        to[408] = n408; to[409] = n409; to[410] = n410; to[411] = n411;
        to[412] = n412; to[413] = n413; to[414] = n414; to[415] = n415;
        to[416] = n416; to[417] = n417; to[418] = n418; to[419] = n419;
        to[420] = n420; to[421] = n421; to[422] = n422; to[423] = n423;
        to[424] = n424; to[425] = n425; to[426] = n426; to[427] = n427;
        to[428] = n428; to[429] = n429; to[430] = n430; to[431] = n431;
        to[432] = n432; to[433] = n433; to[434] = n434; to[435] = n435;
        to[436] = n436; to[437] = n437; to[438] = n438; to[439] = n439;
        to[440] = n440; to[441] = n441; to[442] = n442; to[443] = n443;
        to[444] = n444; to[445] = n445; to[446] = n446; to[447] = n447;
    }
}
