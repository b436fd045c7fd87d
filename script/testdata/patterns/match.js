// matches returns the results of exec, with the places of captures, until exec finds nothing more. Each pattern of
// the table is tried with each of its texts.
const matches = (pattern, flags, text) => {
  const expression = new RegExp(pattern, flags)
  const found = []
  for (let i = 0; i < 20; i++) {
    const one = expression.exec(text)
    if (one === null) break
    found.push([one.index, expression.lastIndex, [...one], one.groups && { ...one.groups }, one.indices && [...one.indices]])
    if (!expression.global && !expression.sticky) break
    if (one[0] === '') expression.lastIndex++
  }
  return found
}
const lines = ['a\nb', 'a\rb', 'a\r\nb', 'a\u2028b', 'a\u2029b', 'a\u0085b', 'a\vb', '\na\n', '']
const words = ['über uns', 'café', 'naïve', 'Straße', 'a_b-c', 'ſ K', '١2', '日本 go', 'e\u0301x']
const table = [
  // Emoji, and halves of surrogate pairs.
  ['😀', '', ['x😀', '😁']], ['[😀😁]', '', ['😀', '😁', '😂']], ['[😀😁]', 'u', ['😀', '😁', '😂']], ['[^😀]', 'g', ['a😀']], ['[^😀]', 'gu', ['a😀b']],
  ['😀+', 'g', ['😀😀', '😀\ude00\ude00']], ['😀{2}', '', ['😀😀', '😀\ude00']], ['😀{2}', 'u', ['😀😀', '😀\ude00']], ['^.$', '', ['😀', 'é']], ['^.$', 'u', ['😀']],
  ['^..$', '', ['😀', '👍🏽']], ['.', 'g', ['a😀']], ['.', 'gu', ['a😀']], ['\\ud83d', '', ['😀']], ['\\ud83d', 'u', ['😀', '\ud83d', '\ud83dx']], ['\\ud83d\\ude00', 'u', ['😀']],
  ['\\u{1F600}', 'u', ['😀']], ['\\u{3}', '', ['uuu', '\u0003']], ['[\\ud83d]', '', ['😀']], ['(?:👍|👎)(?:🏽)?', 'g', ['👍🏽👎']], ['[😀-😎]', 'u', ['😃', '😏']], ['\\S', 'g', ['😀 a']],
  ['\\W', 'gu', ['😀']], ['(?<=😀)a', '', ['😀a']], ['(?<!\\ude00)a', '', ['😀a']], ['(?<!\\ude00)a', 'u', ['😀a']], ['x*', 'gu', ['😀']], ['x*', 'g', ['😀']], ['$', 'gu', ['😀']],
  // Captures in loops are forgotten.
  ['(z)((a+)?(b+)?(c))*', '', ['zaacbbbcac']], ['(?:(a)|(b))*', '', ['ab', 'ba']], ['(?:(a)|b)*', '', ['ab']], ['(a*)*', '', ['b', 'aa']], ['(?:a*?)*?b', '', ['aab']], ['(?:(a)|(b)|(c)){2}', 'd', ['ac', 'ca']],
  ['(\\2a)(b)?', '', ['ab']], ['(?:(x)?y\\1)+', '', ['xyxy', 'xyx']], ['(?=(a+))a*b\\1', '', ['baaabac']], ['(?!(a)b)\\1c', '', ['c', 'abc']], ['(a?)*?$', '', ['aa']], ['(?:a|(b)){3,}', '', ['abab', 'baa']], ['^(?:(\\d+)x)?\\s*(.*)$', '', ['3x tea', 'tea']],
  ['(?:(?=(\\d+))\\w{2})+', '', ['12ab34']], ['()|', 'g', ['ab']], ['(?:){3,4}(a)', '', ['a']], ['(a{0,2}){2}', '', ['aaa', 'a']], ['(?:a?){5}b', '', ['aab']],
  // Ends of lines.
  ...['^.*$', '^', '$', '\\n$', '.', '[^]', '^b', 'a$', '\\s', '(?<=^)b', 'a(?=$)'].flatMap((pattern) => ['g', 'gm'].map((flags) => [pattern, flags, lines])),
  ['.', 'gs', lines],
  // Word boundaries, which only consider ASCII.
  ...['\\b', '\\B', '\\b\\w+\\b', '\\w+', '\\W+', '[\\w-]+', '\\bx'].flatMap((pattern) => ['g', 'gu', 'gi', 'giu'].map((flags) => [pattern, flags, words])),
  ['\\d', 'g', ['1١२３']], ['\\s', 'g', ['\u00a0\u1680\u180e\u2000\u200a\u200b\u202f\u205f\u3000\ufeff\v\f']],
  // Names.
  ['(?<year>\\d{4})-(?<month>\\d\\d)', 'd', ['on 2026-11-22']], ['(?<a>.)(?<b>.)?\\k<a>', '', ['xyx', 'xx']], ['\\k<a>', '', ['k<a>']], ['(?<π>a)(?<$1_>b)', 'u', ['ab']], ['(?<ü>.)\\k<ü>', '', ['aa']], ['(?<__proto__>a)', '', ['a']],
  ['\\k<later>(?<later>x)', '', ['x']], ['(?<a>x)|(?<b>y)', 'g', ['yx']],
  // Looking behind.
  ['(?<=\\$)\\d+', 'g', ['$10 €20 $3']], ['(?<!\\$)\\b\\d+', 'g', ['$10 €20']], ['(?<=(\\d+)(\\d+))$', '', ['1053']], ['(?<=\\1(a))b', '', ['aab']], ['(?<=([ab]+)([bc]+))$', '', ['abc']], ['(?<=^|,)[^,]*', 'g', ['a,,b']], ['(?<=a.*)b', 'g', ['a b b']], ['(?<=(?<!x)a)b', '', ['xab', 'ab']], ['(?<=\\b)x', 'g', ['x yx']],
  // Sticky, indices and sets.
  ['a', 'y', ['aab', 'ba']], ['\\d', 'gy', ['12a3']], ['^a', 'my', ['a\na']], ['(?:)', 'y', ['x']], ['(a)(b)?(?<n>c)', 'dg', ['xacabc']],
  ['[\\p{L}--[a-z]]', 'gv', ['aÄb']], ['[\\w&&[^\\d_]]+', 'gv', ['a1_b']], ['[\\q{abc|d|}x]', 'gv', ['abcdx']], ['\\p{RGI_Emoji}', 'gv', ['👨‍👩‍👧🇦🇹a1️⃣']], ['^\\p{Emoji_Keycap_Sequence}$', 'v', ['1️⃣']], ['[^\\p{Lu}]', 'giv', ['aA1']], ['[[a-cx-z]&&[b-y]]', 'gv', ['abcxyz']],
  // Properties.
  ...['L', 'Lu', 'N', 'P', 'Sc', 'Script=Greek', 'Script_Extensions=Hiragana', 'Emoji', 'Emoji_Presentation', 'Extended_Pictographic', 'White_Space', 'ASCII', 'ID_Start', 'Any', 'Uppercase', 'Alphabetic', 'Script=Han', 'sc=Cyrl', 'gc=Nd', 'Mn', 'Co', 'Assigned']
    .flatMap((name) => [[`\\p{${name}}+`, 'gu', ['Aäß1٣€αあ漢😀.Ж e\u0301\ue000']], [`\\P{${name}}+`, 'gu', ['Aäß1٣€αあ漢😀.Ж']]]),
  ['\\p{L}', '', ['p{L}']], ['\\p{Lu}', 'giu', ['aA']], ['\\P{Lu}', 'giu', ['aA']], ['[^\\P{Lu}]', 'giu', ['aA']],
  // Cases.
  ...['ß', 'ẞ', 'ss', 'ſ', 's', 'k', '\\u212a', 'å', '\\u212b', 'İ', 'i', 'ı', 'ς', 'Σ', 'ǆ', 'ﬅ', 'ﬆ', 'µ', 'Ω', '[a-z]', '[^a-z]', '\\w', '[Ā-ſ]', 'Я', 'ა', 'Ა', 'Ꭰ', 'ꭰ', '\\u{10400}'].flatMap((pattern) => [[pattern, 'gi', [folded()]], [pattern, 'giu', [folded()]]]),
  ['(?<a>Ä)\\k<a>', 'i', ['Ää', 'äÄ']], ['[\\u{10400}]', 'iu', ['\u{10428}']],
  // Syntax that the annex for browsers allows.
  ['a{', '', ['a{']], ['a{1', '', ['a{1']], ['{', '', ['{']], [']', '', [']']], ['\\8', '', ['8']], ['\\101', '', ['A']], ['[\\1]', '', ['\u0001']], ['\\c', '', ['\\c']], ['[\\c_]', '', ['\u001f']], ['\\x4', '', ['x4']], ['(?=a)*', '', ['a']], ['(?=a)+a', '', ['a']], ['\\_', '', ['_']], ['[a-\\d]', 'g', ['a-1']], ['\\u12', '', ['u12']], ['\\0', '', ['\0']], ['\\cJ', '', ['\n']], ['[\\b]', '', ['\b']],
  // Much backtracking.
  ['(a+)+b', '', ['aaaaaaaaaaaaac']], ['^(?:.*,){3}x', '', ['1,2,3,x', '1,2,x']], ['(?:a|ab)(?:c|bcd)(?:d*)', '', ['abcd']], ['a.*?b.*c', '', ['a1b2b3c4c']], ['(a|b)*?c', '', ['abac']], ['x{2,3}?', 'g', ['xxxxx']], ['(?:x{2}){1,2}', 'g', ['xxxxx']],
]
function folded() { return 'ßẞsSſkK\u212aåÅ\u212bİiIıςΣσǆǅǄﬅﬆµμΜΩω\u2126zZāĀſяЯაᲐᎠꭰ\u{10400}\u{10428}' }
const cases = []
for (const [pattern, flags, texts] of table) {
  for (const text of texts) {
    const run = () => matches(pattern, flags, text)
    run.toString = () => `/${pattern}/${flags} in ${JSON.stringify(text)}`
    cases.push(run)
  }
}
return cases
