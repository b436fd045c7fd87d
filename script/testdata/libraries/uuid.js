const uuid = require('uuid')
const random = Uint8Array.of(0x10, 0x91, 0x56, 0xbe, 0xc4, 0xfb, 0xc1, 0xea, 0x71, 0xb4, 0xef, 0xe1, 0x67, 0x1c, 0x58, 0x36)
const node = [1, 0x23, 0x45, 0x67, 0x89, 0xab]
return [
  () => uuid.v1({ random, node, clockseq: 0x1234, msecs: Date.UTC(2026, 0, 1), nsecs: 5678 }),
  () => uuid.v3('hello.example.com', uuid.v3.DNS) + uuid.v3('ü😀', uuid.v3.URL),
  () => uuid.v4({ random }),
  () => uuid.v5('hello.example.com', uuid.v5.DNS) + uuid.v5('ü😀', '109156be-c4fb-41ea-b1b4-efe1671c5836'),
  () => uuid.v6({ random, node, clockseq: 0x1234, msecs: Date.UTC(2026, 0, 1), nsecs: 5678 }),
  () => uuid.v7({ random, msecs: Date.UTC(2026, 0, 1), seq: 0x1234567 }),
  () => [uuid.v1(), uuid.v4(), uuid.v6(), uuid.v7()].map((one) => [one.length, uuid.validate(one), uuid.version(one)]),
  () => uuid.v4() !== uuid.v4(),
  () => [...uuid.parse('6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b')],
  () => uuid.stringify(random),
  () => ['6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b', '6ec0bd7f-11c0-93da-975e-2a8ad9ebae0b', uuid.NIL, uuid.MAX, '', 7].map((one) => uuid.validate(one)),
  () => uuid.parse('nonsense'),
  () => uuid.version('nonsense'),
  () => uuid.v5('x', 'nonsense'),
  () => uuid.v1ToV6('f1207660-21d2-11ef-8c4f-419efbd44d48') + uuid.v6ToV1('1ef21d2f-1207-6660-8c4f-419efbd44d48'),
]
