const _ = require('lodash')
const users = [{ user: 'bob', age: 36, active: true }, { user: 'ada', age: 40, active: false }, { user: 'cyd', age: 36, active: true }]
return [
  () => [_.groupBy(users, 'age'), _.keyBy(users, 'user'), _.countBy(users, 'active'), _.partition(users, 'active')],
  () => [_.orderBy(users, ['age', 'user'], ['desc', 'asc']), _.sortBy(users, ['age', 'user']), _.maxBy(users, 'age'), _.sumBy(users, 'age')],
  () => ['fooBar baz', '--foo-bar--', '__FOO_BAR__', 'ÄÖÜ déjà vu', 'XMLHttp2Request'].map((text) => [_.camelCase(text), _.kebabCase(text), _.snakeCase(text), _.startCase(text), _.deburr(text), _.words(text)]),
  () => [_.chunk([1, 2, 3, 4, 5], 2), _.difference([2, 1], [2, 3]), _.intersectionBy([2.1, 1.2], [2.3], Math.floor), _.xor([2, 1], [2, 3]), _.flattenDeep([1, [2, [3, [4]]]]), _.zipObject(['a'], [1])],
  () => [_.get({ a: [{ b: { c: 3 } }] }, 'a[0].b.c'), _.set({}, 'x[0].y.z', 5), _.has({ a: { b: 2 } }, 'a.b'), _.unset({ a: 1 }, 'a'), _.pick({ a: 1, b: 2 }, ['a']), _.omit({ a: 1, b: { c: 2 } }, 'b.c')],
  () => [_.merge({ a: [{ b: 2 }, { d: 4 }] }, { a: [{ c: 3 }, { e: 5 }] }), _.defaultsDeep({ a: { b: 2 } }, { a: { b: 1, c: 3 } }), _.cloneDeep({ d: new Date(0), m: new Map([[1, { a: 1 }]]), r: /x/gi.source })],
  () => [_.isEqual({ a: [1, { b: new Date(0) }] }, { a: [1, { b: new Date(0) }] }), _.isEqual(NaN, NaN), _.isEqual(new Set([1]), new Set([1])), _.isPlainObject(new Map()), _.isEmpty({}), _.isError(new TypeError())],
  () => [_.template('hi <%- name %>! <% _.forEach(l, (x) => { %>[<%= x %>]<% }) %> ${name}')({ name: '<Ada>', l: [1, 2] })],
  () => [_.truncate('hi-diddly-ho there, neighborino', { length: 24, separator: /,? +/ }), _.truncate('😀'.repeat(40)), _.pad('abc', 8, '_-'), _.repeat('ab', 3), _.escape('a<b>"&\''), _.unescape('&lt;'), _.size('😀ü'), _.toArray('👩‍👧é')],
  () => [_.round(4.006, 2), _.round(4060, -2), _.ceil(6.004, 2), _.floor(-1.5), _.clamp(-10, -5, 5), _.inRange(3, 2, 4), _.range(0, -4, -1), _.mean([4, 2, 8])],
  () => _(users).filter('active').map('user').reverse().take(1).value(),
  () => _.flow([_.add, (n) => n * n])(1, 2) + _.curry((a, b, c) => [a, b, c])(1)(_, 3)(2).join() + _.memoize((x) => x * 2)(4),
  () => [_.debounce(() => {}, 10).name.length >= 0, _.invert({ a: 1, b: 1 }), _.mapValues({ a: { n: 1 } }, 'n'), _.transform([2, 3], (all, n) => { all.push(n * n); return n % 2 === 0 }, [])],
  () => require('lodash/fp').map((n) => n + 1)([1, 2]).concat(require('lodash/fp').getOr('none', 'a.b', {})),
  () => _.chunk(_.shuffle([1, 2, 3])).length + _.sample([7]) + _.uniqueId('id_').length,
  () => _.after('x', 7),
]
