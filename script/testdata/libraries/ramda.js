const R = require('ramda')
const orders = [{ id: 1, who: 'ada', sum: 3 }, { id: 2, who: 'bob', sum: 5 }, { id: 3, who: 'ada', sum: 7 }]
return [
  () => R.groupBy(R.prop('who'), orders),
  () => R.pipe(R.filter(R.propEq('ada', 'who')), R.pluck('sum'), R.sum)(orders),
  () => R.assocPath(['a', 0, 'b'], 1, {}),
  () => R.sortWith([R.ascend(R.prop('who')), R.descend(R.prop('sum'))], orders),
  () => R.over(R.lensPath(['x', 'y']), R.inc, { x: { y: 1 } }),
  () => [R.equals({ a: [1, new Date(0)] }, { a: [1, new Date(0)] }), R.equals(NaN, NaN), R.equals(0, -0), R.equals(new Map([[1, 2]]), new Map([[1, 2]]))],
  () => R.reduceBy((sum, one) => sum + one.sum, 0, R.prop('who'), orders),
  () => [R.toString({ a: [1, 'x', new Date(0), /a/g, null] }), R.type(/x/), R.type(async () => {}), R.type(null)],
  () => R.evolve({ a: R.multiply(2), b: { c: R.toUpper } }, { a: 1, b: { c: 'x' }, d: 1 }),
  () => [R.splitEvery(2, [1, 2, 3]), R.zipObj(['a', 'b'], [1, 2]), R.xprod([1, 2], ['a']), R.aperture(2, [1, 2, 3]), R.transpose([[1, 2], [3]]), R.uniqWith(R.eqBy(Math.abs), [1, -1, 2])],
  () => R.curry((a, b, c) => a + b + c)(1)(R.__, 3)(2),
  () => R.mergeDeepWith(R.concat, { a: [1] }, { a: [2], b: 3 }),
  () => R.pipe()(1),
  () => R.into([], R.compose(R.map(R.inc), R.take(2)), [1, 2, 3]),
]
