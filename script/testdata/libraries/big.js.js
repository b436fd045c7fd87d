const Big = require('big.js')
return [
  () => String(new Big('0.1').plus('0.2')),
  () => new Big(1).div(3).toFixed(20),
  () => new Big('123456789.123456789').times('987654321.987654321').toString(),
  () => new Big(2).sqrt().toString() + new Big(2).pow(-10).toString(),
  () => ['1e21', '1e-7', '-0', '1234.5678'].map((one) => [new Big(one).toString(), new Big(one).toExponential(3), new Big(one).toPrecision(5), new Big(one).toJSON()]),
  () => [0, 1, 2, 3].map((mode) => new Big('2.5').round(0, mode).toString() + new Big('-1.45').toFixed(1, mode)),
  () => [new Big(10).mod(3), new Big('1.0').eq(1), new Big(2).gt('3'), new Big('7').cmp(7), new Big('-3').abs()],
  () => new Big('abc'),
  () => new Big(1).div(0),
  () => new Big(-1).sqrt(),
]
