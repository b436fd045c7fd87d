const { z } = require('zod')
const user = z.object({ name: z.string().min(2), age: z.number().int().positive().optional(), email: z.email(), tags: z.array(z.string()).max(2).default([]) })
return [
  () => user.parse({ name: 'Ada', email: 'ada@example.com', extra: 1 }),
  () => user.safeParse({ name: 'A', age: -1.5, email: 'x', tags: ['a', 'b', 'c'] }).error.issues,
  () => user.parse(7),
  () => z.union([z.string(), z.number()]).safeParse(true).error.issues,
  () => z.discriminatedUnion('type', [z.object({ type: z.literal('a'), n: z.number() }), z.object({ type: z.literal('b') })]).parse({ type: 'a', n: 1 }),
  () => z.coerce.date().parse('2026-01-02T03:04:05Z'),
  () => z.string().transform((text) => text.length).pipe(z.number().max(3)).safeParse('four').success,
  () => ['2026-02-30', '2026-02-28'].map((day) => z.iso.date().safeParse(day).success),
  () => z.object({ a: z.string().refine((text) => text === 'x', 'must be x') }).strict().safeParse({ a: 'y', b: 1 }).error.issues,
  () => z.flattenError(user.safeParse({}).error),
  () => z.prettifyError(user.safeParse({ name: 1 }).error),
  async () => z.string().refine(async (text) => text.length > 1).parseAsync('ok'),
  () => z.toJSONSchema(user),
  () => z.record(z.string(), z.tuple([z.number(), z.enum(['a', 'b'])])).parse({ k: [1, 'b'] }),
  () => [z.uuid(), z.url(), z.ipv4(), z.base64(), z.emoji(), z.e164(), z.bigint()].map((kind, i) => kind.safeParse(['6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'https://a.at', '1.2.3.4', 'aGk=', '😀', '+436641234567', 7n][i]).success),
  () => z.lazy(() => z.object({ children: z.array(z.any()) })).parse({ children: [{ children: [] }] }),
]
