const moment = require('moment')
const noon = '2026-03-28T12:00:00Z'
return [
  () => moment.utc(noon).format('dddd, MMMM Do YYYY, h:mm:ss a'),
  () => moment.utc(noon).add(1, 'month').endOf('month').toISOString(),
  () => ['YYYY-[W]WW-E', 'DDDo', 'x', 'LLLL', 'ZZ', 'gggg-ww', '[Q]Q', 'SSS'].map((format) => moment.utc(noon).format(format)),
  () => moment.utc('24.12.2026 18:30', 'DD.MM.YYYY HH:mm', true).toJSON(),
  () => [moment.utc('31.02.2026', 'DD.MM.YYYY').isValid(), moment.utc('31.02.2026', 'DD.MM.YYYY').format(), moment.utc('2026-13-01').isValid()],
  () => moment.utc(noon).from(moment.utc('2026-03-30T12:00:00Z')),
  () => ['2026-03-28T12:00:44Z', '2026-03-28T13:10:00Z', '2027-09-01', '2026-03-27'].map((at) => moment.utc(at).from(moment.utc(noon))),
  () => moment.utc('2026-12-24').diff(moment.utc(noon), 'days', true),
  () => moment.duration({ hours: 27, minutes: 5 }).toISOString() + ' ' + moment.duration(95, 'minutes').humanize(true),
  () => moment.utc(noon).calendar(moment.utc('2026-03-29T12:00:00Z')),
  () => moment(noon).isBetween('2026-03-01', '2026-04-01', 'day', '[]'),
  () => { require('moment/locale/de'); return moment.utc(noon).locale('de').format('dd, D. MMMM YYYY, LT [Uhr]') },
  () => { require('moment/locale/ja'); return moment.utc(noon).locale('ja').format('LLLL') },
  () => moment.localeData('de').monthsShort(),
  () => moment.parseZone('2026-03-28T12:00:00+05:30').format(),
  () => moment.utc([2026, 0, 31]).add({ months: 1, days: -1 }).toObject(),
  () => moment('2026-03-28').format() + moment('2026-03-28 10:20', 'YYYY-MM-DD hh:mm').unix(),
]
