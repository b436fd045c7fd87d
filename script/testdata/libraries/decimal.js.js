const Decimal = require('decimal.js')
return [
  () => Decimal.add('0.1', '0.2').toString(),
  () => new Decimal(2).sqrt().toString() + ' ' + new Decimal(3).cbrt() + ' ' + Decimal.exp(1),
  () => ['0.5', '1', '10', '1e50'].map((one) => [Decimal.ln(one).toString(), Decimal.log10(one).toString(), Decimal.sin(one).toString(), Decimal.atan(one).toString()]),
  () => new (Decimal.clone({ precision: 60, rounding: Decimal.ROUND_DOWN }))(1).div(7).toString(),
  () => ['255', '0.1', '-1e-9'].map((one) => [new Decimal(one).toHex(), new Decimal(one).toBinary(12), new Decimal(one).toOctal(5)]),
  () => [new Decimal('0xff.8').toString(), new Decimal('0b101').toNumber(), new Decimal('1e9000').toString(), new Decimal('-Infinity').toJSON()],
  () => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((mode) => new Decimal('-2.5').toDecimalPlaces(0, mode).toString()),
  () => new Decimal('3.14159265358979').toFraction(1000).map(String),
  () => Decimal.pow('1.05', 30).times('1000').toFixed(2),
  () => new Decimal('x'),
  () => [Decimal.max(1, '3', 2), Decimal.hypot(3, 4), new Decimal('17.3').mod('5'), new Decimal('123.456').toSD(4), new Decimal(5).toNearest(3)],
]
