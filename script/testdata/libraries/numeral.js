const numeral = require('numeral')
return [
  () => [['0,0.00', 1234567.891], ['0.[00]a', 1230974], ['$0,0.00', -3.5], ['0%', 0.974878], ['0.0b', 3467479682787], ['0 ib', 1024], ['00:00:00', 63846], ['0o', 23], ['0.00e+0', 1.2e-7], ['(0,0)', -5000], ['+0', 7], ['0 BPS', 0.0056]]
    .map(([format, value]) => numeral(value).format(format)),
  () => ['1,234.5', '($1.50)', '12%', '1.2k', '23rd', 'x', ''].map((text) => numeral(text).value()),
  () => numeral(0.1).add(0.2).multiply(3).subtract(1).divide(7).value(),
  () => [1.005, 2.675, 1.45, -1.5, 0.5].map((value) => numeral(value).format('0.00') + numeral(value).format('0', Math.floor)),
  () => { require('numeral/locales/de'); numeral.locale('de'); const text = numeral(1234567.89).format('0,0.00 $'); numeral.locale('en'); return text },
  () => numeral(null).format('0') + numeral(NaN).format() + numeral(undefined).format('$0'),
  () => { numeral.zeroFormat('N/A'); const text = numeral(0).format('0.0'); numeral.zeroFormat(null); return text },
  () => numeral.validate('1,000', 'en'),
  () => numeral(1e21).format('0,0'),
]
