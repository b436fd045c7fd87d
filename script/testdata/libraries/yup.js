const yup = require('yup')
const order = yup.object({ name: yup.string().required().trim(), count: yup.number().integer().min(1).max(9), email: yup.string().email(), at: yup.date().default(() => new Date(0)), tags: yup.array().of(yup.string()).ensure() })
return [
  () => order.cast({ name: ' Ada ', count: '3' }),
  async () => order.validate({ name: 'Ada', count: 3 }),
  async () => order.validate({ count: 3 }),
  async () => order.validate({ count: 'x', email: 'no' }, { abortEarly: false }).catch((error) => [error.name, error.errors, error.inner.map((one) => [one.path, one.type, one.message])]),
  () => order.isValidSync({ name: 'x', count: 10 }),
  () => yup.string().matches(/^[a-z]+$/, 'only letters').validateSync('A1'),
  () => yup.mixed().oneOf(['a', 'b']).validateSync('c'),
  () => yup.object({ a: yup.boolean(), b: yup.string().when('a', { is: true, then: (schema) => schema.required('needs b') }) }).validateSync({ a: true }),
  () => ['2026-01-02', '2026-01-02T03:04:05+02:00', 'x'].map((text) => yup.date().isValidSync(text)),
  () => [yup.string().url().isValidSync('https://a.at/x'), yup.string().uuid().isValidSync('x'), yup.number().isValidSync('0x10'), yup.bool().cast('true')],
  () => yup.object({ a: yup.number() }).noUnknown().strict().validateSync({ a: 1, b: 2 }),
  () => yup.lazy((value) => (Array.isArray(value) ? yup.array() : yup.string())).cast(['x']),
  () => order.describe().fields.count,
  () => yup.reach(order, 'tags').type + yup.tuple([yup.string(), yup.number()]).isValidSync(['a', 1]),
]
