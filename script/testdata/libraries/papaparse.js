const Papa = require('papaparse')
return [
  () => Papa.parse('name,price\ntea,2\n"cake, big","3,5"\n', { header: true, skipEmptyLines: true }),
  () => Papa.parse('a;b\r\n1;"x ""y"""\r\n;\r\n').data,
  () => Papa.parse('a,b\n1,true\n1e3,2026-01-02T03:04:05Z\n-0.5,null', { header: true, dynamicTyping: true }).data,
  () => Papa.parse('a,b\n1\n1,2,3\n"open', { header: true }),
  () => Papa.parse('\uFEFFa\tb\n# no\n1\t2', { comments: '#', delimiter: '' }).meta,
  () => Papa.unparse([{ a: 1, b: 'x,y' }, { a: null, b: 'say "hi"\nyou' }]),
  () => Papa.unparse({ fields: ['a', 'b'], data: [[1, 2], ['=SUM(1)', ' x']] }, { quotes: true, delimiter: ';', escapeFormulae: true, newline: '\n' }),
  () => { const rows = []; Papa.parse('1,2\n3,4\n5,6', { step: ({ data }, parser) => { rows.push(data); if (rows.length === 2) parser.abort() } }); return rows },
  () => Papa.parse('a,a,b\n1,2,3', { header: true }).data,
  () => Papa.parse('', {}),
  () => Papa.parse('n\nü😀', { header: true, transform: (value) => value.toUpperCase(), transformHeader: (name) => '_' + name }).data,
]
