const mustache = require('mustache')
return [
  () => mustache.render('Hello {{name}}, {{{raw}}} {{&raw}} {{raw}}', { name: 'Ada', raw: '<b>"\'&/`=' }),
  () => mustache.render('{{#items}}{{name}}: {{price}}{{^last}}, {{/last}}{{/items}}{{^items}}none{{/items}}', { items: [{ name: 'tea', price: 2 }, { name: 'cake', price: 3.5, last: true }] }),
  () => mustache.render('{{#each}}<{{.}}>{{/each}}{{a.b.c}}{{#f}}x{{y}}{{/f}}', { each: [1, 2], a: { b: { c: 0 } }, y: 'z', f: () => (text, render) => '[' + render(text) + ']' }),
  () => mustache.render('  {{>item}}\n{{! a comment }}', { n: 1 }, { item: 'n={{n}}\nm' }),
  () => mustache.render('{{=<% %>=}}<% a %>{{a}}', { a: 1 }),
  () => mustache.parse('{{#a}}x{{b}}{{/a}}'),
  () => mustache.render('{{#a}}never closed', {}),
  () => mustache.render('{{/a}}', {}),
  () => mustache.render(7, {}),
  () => mustache.render('{{missing}}|{{nothing}}|{{zero}}', { nothing: null, zero: 0 }),
  () => mustache.render('{{a}}', { a: 'x<y' }, {}, { escape: (text) => text.toUpperCase() }),
]
