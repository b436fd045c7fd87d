const dayjs = require('dayjs')
for (const plugin of ['utc', 'customParseFormat', 'relativeTime', 'duration', 'isoWeek', 'weekOfYear', 'advancedFormat', 'weekday', 'isBetween']) {
  dayjs.extend(require('dayjs/plugin/' + plugin))
}
return [
  () => dayjs.utc('2026-03-28T12:00:00Z').format('dddd, MMMM D, YYYY h:mm A'),
  () => dayjs.utc('24.12.2026 18:30', 'DD.MM.YYYY HH:mm').toISOString(),
  () => dayjs('31.02.2026', 'DD.MM.YYYY', true).isValid(),
  () => dayjs('nonsense').format(),
  () => dayjs.utc('2026-01-31').add(1, 'month').format('YYYY-MM-DD Do w W Q'),
  () => dayjs.utc('2026-03-28').from(dayjs.utc('2026-04-02')),
  () => dayjs.utc('2026-12-24').diff(dayjs.utc('2026-03-28T18:00'), 'day', true),
  () => dayjs.duration(100000000).format('D [days] HH:mm:ss') + dayjs.duration({ hours: 2 }).humanize(),
  () => { require('dayjs/locale/fr'); return dayjs.utc('2026-08-01').locale('fr').format('dddd D MMMM YYYY') },
  () => [dayjs.utc('2026-03-28').isoWeek(), dayjs.utc('2026-03-28').startOf('week').toJSON(), dayjs.utc('2026-03-28').isBetween('2026-03-01', '2026-04-01')],
  () => dayjs('2026-03-28 10:00').utcOffset(480).format(),
  () => dayjs.utc('2026-03-31').set('month', 1).date(),
]
