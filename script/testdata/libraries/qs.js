const qs = require('qs')
return [
  () => qs.parse('a[b][c]=d&e[]=1&e[]=2&f[0]=x&f[2]=z&g=%F0%9F%98%80+%C3%BC&h'),
  () => qs.parse('?a=1;b=2', { ignoreQueryPrefix: true, delimiter: ';' }),
  () => qs.parse('a.b=c&d=1,2&n=&o', { allowDots: true, comma: true, strictNullHandling: true }),
  () => qs.parse('a[b][c][d][e][f][g]=x'),
  () => qs.parse('a[100]=x&__proto__[x]=1&a[__proto__][y]=2'),
  () => qs.stringify({ a: { b: 'c d' }, e: [1, 2], n: null, u: undefined, f: '', at: new Date(0), g: 'ü&=😀' }),
  () => ['indices', 'brackets', 'repeat', 'comma'].map((arrayFormat) => qs.stringify({ a: ['b', 'c'] }, { arrayFormat, encode: false })),
  () => qs.stringify({ b: 1, a: { c: [] }, d: true }, { sort: (x, y) => (x < y ? -1 : 1), addQueryPrefix: true, allowDots: true, skipNulls: true }),
  () => qs.parse('%E4=%FC', { charset: 'iso-8859-1' }),
  () => qs.parse('a=1&a=2', { duplicates: 'last' }),
  () => qs.parse('a=1&b=2&c=3', { parameterLimit: 2, throwOnLimitExceeded: true }),
  () => qs.stringify({ a: 1 }, { charset: 'x' }),
  () => { const a = {}; a.a = a; return qs.stringify(a) },
]
