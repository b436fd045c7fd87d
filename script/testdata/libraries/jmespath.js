const jmespath = require('jmespath')
const data = { people: [{ name: 'Ada', age: 36, tags: ['a', 'b'] }, { name: 'Bob', age: 20, tags: [] }, { name: 'Cyd', age: 50 }], n: { 'odd key': 1 } }
return [
  () => jmespath.search(data, 'people[?age > `30`].name'),
  () => jmespath.search(data, 'people[*].{n: name, t: tags[0]}'),
  () => jmespath.search(data, 'sort_by(people, &age)[-1].name'),
  () => jmespath.search(data, 'people[].tags[] | join(`,`, @)'),
  () => [jmespath.search(data, 'length(people)'), jmespath.search(data, 'n."odd key"'), jmespath.search(data, 'people[::-1].age'), jmespath.search(data, 'max_by(people, &age).name')],
  () => jmespath.search(data, "people[?contains(name, 'o') || starts_with(name, 'C')].name"),
  () => jmespath.search(data, 'people[?'),
  () => jmespath.search(data, 'unknown(@)'),
  () => jmespath.search(data, 'abs(people)'),
  () => jmespath.search(data, "to_string(n) | [@, to_number('1.5'), type(@), not_null(a, `2`)]"),
  () => jmespath.compile('a.b[0]'),
  () => jmespath.tokenize('a || !b'),
]
