const { marked, lexer, Marked } = require('marked')
return [
  () => marked.parse('# Title\n\nSome *em*, **strong**, `code`, ~~gone~~ & <b>html</b>.\n\n- a\n- b\n  1. c\n  2. d\n\n> quote\n> more\n\n---\n'),
  () => marked.parse('| a | b |\n|:--|--:|\n| 1 | **2** |\n\n```js\nlet a = "<x>"\n```\n\n- [x] done\n- [ ] open\n'),
  () => marked.parse('[a](http://a.at "t") ![i](x.png) <http://b.at> http://c.at/d?e=f&g [r]\n\n[r]: /url'),
  () => marked.parseInline('a **b** _c_ \\* &copy; 😀 `` ` `` line  \nbreak'),
  () => marked.parse('line\nnext', { breaks: true }),
  () => lexer('# x\n\ny'),
  () => new Marked({ renderer: { heading({ tokens, depth }) { return `<h${depth + 1}>${this.parser.parseInline(tokens)}</h${depth + 1}>` } } }).parse('# a *b*'),
  () => marked.parse(undefined),
  () => marked.parse('Ünïcode_wörd_ *ä*b **中文**字 _(x)_'),
  () => marked.parse('***a** b*  **c*d**  a*b*c  __x__y\n\n<div>\n*raw*\n</div>\n\n    code\n\ttab'),
]
