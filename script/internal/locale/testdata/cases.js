(function () {
  let seed = 1
  const next = () => { let t = seed += 0x6D2B79F5; t = Math.imul(t ^ t >>> 15, t | 1); t ^= t + Math.imul(t ^ t >>> 7, t | 61); return (t ^ t >>> 14) >>> 0 }
  const below = (n) => next() % n
  const of = (list) => list[below(list.length)]
  const outcomes = []
  const say = (group, what, run) => {
    let result
    try { result = `${run()}` } catch (error) { result = error.code === 'Unsupported' ? 'Unsupported' : error.name }
    outcomes.push([group, what, result])
  }
  const letters = {
    ascii: ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ',
    words: 'aabbcdeeoouAEOU', digits: '0001234567890 .-a', spaces: ' -_\'’ab',
    latin: 'aeioucnszylàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŸœŒšžčłđőąęşğıİ',
    german: 'aäoöuüßsSeAÄOÖUÜ', swedish: 'aåäöozAÅÄÖ', spanish: 'nñoóaáeNÑlc',
    greek: 'αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώΑΒΓΔΆ', cyrillic: 'абвгдеёжзийклмнопрстуфхцчшщъыьэюяАБВГДЕЁЖЙієїґўЎ',
    cjk: '一二三中文字国人日本大小你好世界漢語東京あいうアイウかがカガーハバパ한글가나다', hebrew: 'אבגדהוזחט', arabic: 'ابتثجحخدذرزسش',
    thai: 'กขคงเแโาิีุู่้', devanagari: 'अआकखगघािीुू्', emoji: '😀🎉👍❤☀🚀🤖🤣🥰🧡🙂🇩🇪👩‍👧️🏽a',
    names: '丽义乡啟志明李王张陈林黄吴刘杨赵周徐孙马朱胡郭何高罗郑梁谢宋唐许邓冯韩曹曾彭萧蔡潘田董袁于余叶蒋杜苏魏程吕丁沈任姚卢傅钟姜崔谭廖范汪陆金石戴贾韦夏邱方侯邹熊孟秦白江阎薛尹段雷黎史龙贺陶顾毛郝龚邵万钱严覃武戴莫孔向汤〇・',
    han: Array.from({ length: 20992 }, (_, i) => String.fromCodePoint(0x4E00 + i)).join('') + '豈更車賈滑串句龜契金喇',
    mixed: 'LiWang 丽义乡啟李王明,.-（）。，、？！：；「」ａＡ１？',
    dotted: 'dDḍḌḏḎḓḒđĐhHḥḤḫḪlLḷḶḹḻḽłŁrRṛṛ́tTṭṬaAạẠếỆ', turkic: 'аӑӒәӘӛеӗёжӂӝзӟиӣӥіїйоӧөӫуӯӱӳўчӵыӹэӭѵѷкќгѓАӐЕӖ',
    currencies: '₠₡₢₣₤₥₦₩₪₫€₭₮₯₰₱₲₳₴₵₶₷₸₹₺₻₼₽₾₿$£¥1a', kana: 'ぁあぃいゔゖゝゞァアヴヷヺーヽヾㇰｱｧﾞﾟ゙゚がガ',
    symbols: '€£¥©®°±½µ¿¡«»–—‘’“”…•™→',
  }
  for (const kind in letters) letters[kind] = Array.from(letters[kind])
  const word = (from) => Array.from({ length: 1 + below(6) }, () => of(from)).join('')
  const pair = (from) => {
    const one = word(from)
    if (below(2) === 0) return [one, word(from)]
    const parts = Array.from(one)
    const at = below(parts.length)
    parts[at] = of([of(from), parts[at].toUpperCase(), parts[at].toLowerCase(), parts[at] + parts[at]])
    return [one, parts.join('')]
  }
  const options = [undefined, { sensitivity: 'base' }, { sensitivity: 'accent' }, { numeric: true }]
  const compare = (group, from, locale, times) => {
    for (let i = 0; i < times; i++) {
      const [one, two] = pair(from)
      const how = below(2) === 0 ? undefined : of(options)
      say(group, JSON.stringify([one, two, locale, how]), () => one.localeCompare(two, locale, how))
    }
  }
  for (const kind in letters) compare('order of ' + kind, letters[kind], undefined, 600)
  compare('order of all', Object.values(letters).flat(), undefined, 1500)
  for (const locale of ['de', 'fr-FR', 'it', 'es', 'pt-BR', 'nl', 'sv-SE', 'fi', 'pl', 'cs', 'tr', 'ru', 'uk', 'el', 'hu', 'ro', 'id']) {
    for (const kind of ['latin', 'ascii', 'cyrillic', 'greek']) compare('order in ' + locale, letters[kind], locale, 250)
  }
  compare('order in uk', Array.from('іїІЇабгґ'), 'uk', 250)

  const numbers = [0, -0, 1, 999, 1000, 1234.5, 9999.5, 10000, 12345.678, -1234567.891, 0.0005, 0.0015, 1.005, 0.125, 1e21, 1.5e300, 5e-324, NaN, Infinity, -Infinity, 2 ** 53, 0.1 + 0.2, -0.0001]
  for (let i = 0; i < 300; i++) numbers.push((next() / 2 ** 32 - 0.5) * Number('1e' + below(25)), Math.round(next() / 2 ** below(30)) / Number('1e' + below(5)))
  const formats = [undefined, undefined, {}, { minimumFractionDigits: 2 }, { maximumFractionDigits: 0 }, { maximumFractionDigits: 2 }, { minimumFractionDigits: 2, maximumFractionDigits: 2 },
    { minimumFractionDigits: 5 }, { useGrouping: false }, { useGrouping: true }, { useGrouping: 'min2' }, { style: 'percent' }, { style: 'percent', maximumFractionDigits: 1 },
    ...['USD', 'EUR', 'GBP', 'JPY', 'CNY', 'TWD', 'HKD', 'KRW', 'BRL', 'CHF'].flatMap((currency) => [{ style: 'currency', currency }, { style: 'currency', currency, maximumFractionDigits: 1 }])]
  for (const locale of [undefined, 'en-US', 'en-GB', 'de-DE', 'de', 'fr-FR', 'es-ES', 'it-IT', 'pt-BR', 'ja-JP', 'ko-KR', 'zh-CN', 'zh-TW', 'zh-HK', 'zh-Hant', 'DE-de']) {
    for (const format of formats) {
      for (let i = 0; i < 25; i++) {
        const number = of(numbers)
        say('numbers', JSON.stringify([`${number}`, locale, format]), () => number.toLocaleString(locale, format))
      }
      const big = BigInt(next()) ** BigInt(below(5)) * (below(2) ? 1n : -1n)
      say('integers', JSON.stringify([`${big}`, locale, format]), () => big.toLocaleString(locale, format))
    }
  }
  for (const number of numbers) for (const format of [undefined, { style: 'percent' }]) say('numbers', `${number}`, () => number.toLocaleString('es', format))

  for (let i = 0; i < 500; i++) {
    const date = new Date(Math.round((next() / 2 ** 32 - 0.5) * of([1e10, 1e13, 8.64e15 * 2])))
    for (const name of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) say('dates', `${name} ${+date}`, () => date[name](of([undefined, 'en-US', []])))
  }
  for (const locale of ['tr', 'az', 'en', 'de', undefined]) for (const text of ['iıIİ', 'straße', 'ΑΣ', 'Ìi̇́', 'ǆ', 'ﬁ', 'j̇']) {
    say('case', `upper ${text} ${locale}`, () => text.toLocaleUpperCase(locale))
    say('case', `lower ${text} ${locale}`, () => text.toLocaleLowerCase(locale))
  }
  for (const source of ['(1).toLocaleString("en_US")', '(1).toLocaleString(null)', '(1).toLocaleString("en", null)', '(1).toLocaleString(["de", "x"])', '(1234.5).toLocaleString([])',
    '(1).toLocaleString("en", {maximumFractionDigits: 21})', '(1).toLocaleString("en", {minimumFractionDigits: 4, maximumFractionDigits: 2})', '(1).toLocaleString("en", {useGrouping: "x"})',
    '(12345).toLocaleString("en", {useGrouping: null})', '(1).toLocaleString("en", {style: "x"})', '(1).toLocaleString("en", {style: "currency"})', '(1).toLocaleString("en", {style: "currency", currency: "X"})',
    '(1.5).toLocaleString("en", {minimumFractionDigits: "2"})', '(1).toLocaleString("en", {unknown: 1})', '"a".localeCompare("b", "x")', '"a".localeCompare("b", "en", {sensitivity: "x"})',
    '"a".localeCompare()', '"á".localeCompare("a\\u0301")', '"b".localeCompare(["a"])', 'String.prototype.localeCompare.call(null, "x")', 'Number.prototype.toLocaleString.call("x")',
    'Date.prototype.toLocaleString.call(1)', 'new Date(NaN).toLocaleString()', 'new Date(0).toLocaleDateString("x")', '[1234.5, null, [5000, , "x"]].toLocaleString("de")',
    'new Float64Array([1234.5, 2]).toLocaleString("de")', 'Array.prototype.toLocaleString.call({length: 2, 0: 1000})', 'Array.prototype.toLocaleString.length + String.prototype.localeCompare.length',
    'Object.getOwnPropertyDescriptor(Number.prototype, "toLocaleString").enumerable', 'Date.prototype.toLocaleTimeString.name', '"prototype" in Number.prototype.toLocaleString']) say('calls', source, () => (0, eval)(source))
  return JSON.stringify(outcomes)
})()
