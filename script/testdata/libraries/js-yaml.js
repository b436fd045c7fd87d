const yaml = require('js-yaml')
return [
  () => yaml.load('a: 1\nb: [x, "y", ~, true, 0x1F, 1e3, .inf, -.inf]\nc:\n  - d: |\n      text\n       more\n    e: >-\n      folded\n      line\n'),
  () => yaml.load('at: 2026-01-02T03:04:05Z\nday: 2026-01-02\nbase: &b {x: 1}\nuse: *b\n'),
  () => yaml.load('<<: {a: 1}\nb: 2'),
  () => yaml.load('a: b: c'),
  () => yaml.load('a:\n\t- b'),
  () => yaml.load('"unclosed'),
  () => yaml.load('*unknown'),
  () => yaml.load('a: 1\na: 2'),
  () => yaml.loadAll('--- 1\n--- {a: b}\n...\n'),
  () => yaml.dump({ a: [1, 'x', null, true], b: { c: 'two\nlines\n', d: 'yes', e: '1', f: '', g: '# no', h: 'ü😀' }, at: 'x'.repeat(100) + ' ' + 'y'.repeat(20) }),
  () => yaml.dump({ b: 1, a: [[1, 2], {}] }, { sortKeys: true, flowLevel: 1, indent: 4 }),
  () => yaml.dump({ f() {} }),
  () => yaml.load('"\\u00fc\\U0001F600\\x41\\n"'),
]
