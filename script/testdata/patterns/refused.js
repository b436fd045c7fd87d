// Patterns that cannot be parsed are a SyntaxError. Engines word it differently.
const refused = (pattern, flags) => {
  const run = () => {
    try {
      return `${new RegExp(pattern, flags)}`
    } catch (error) {
      return error.name
    }
  }
  run.toString = () => `/${pattern}/${flags}`
  return run
}
return [
  ['('], [')'], ['['], ['*'], ['a**'], ['a{2,1}'], ['(?<a>x)(?<a>y)'], ['(?<1>x)'], ['(?<a'], ['\\k<b>(?<a>x)'], ['(?<=a)*'], ['(?<!a)+'], ['[b-a]'], ['\\'], ['a', 'gg'], ['a', 'x'], ['a', 'uv'], ['a', 'gimsuyd'],
  ['\\_', 'u'], ['{', 'u'], [']', 'u'], ['a{', 'u'], ['\\1', 'u'], ['\\8', 'u'], ['[a-\\d]', 'u'], ['\\u{110000}', 'u'], ['\\p{Nonsense}', 'u'], ['\\p{Script}', 'u'], ['\\p{lu}', 'u'], ['\\p{RGI_Emoji}', 'u'], ['(?=a)*', 'u'], ['\\c', 'u'], ['\\x4', 'u'], ['\\u12', 'u'], ['\\00', 'u'], ['\\-', 'u'], ['[\\-]', 'u'],
  ['[a--b&&c]', 'v'], ['[(]', 'v'], ['[&&]', 'v'], ['[^\\p{RGI_Emoji}]', 'v'], ['\\P{RGI_Emoji}', 'v'], ['[a&&&b]', 'v'], ['[\\q{a]', 'v'], ['[]', 'v'], ['[^]', 'v'], ['[|]', 'v'],
  ['/'], ['\n\r'], [''], ['[/]'], ['\\/'], ['(?:'], ['(?'], ['(?a'], ['a{99999999999}'], ['a{0,99999999999}'], ['\\u{1F600}'], ['😀', 'u'],
].map(([pattern, flags = '']) => refused(pattern, flags))
