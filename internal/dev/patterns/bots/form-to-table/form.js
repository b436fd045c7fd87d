// The answers that the form's steps stored in tempData become one row of the table.
const _ = this.lodash;
const form = _.pick(this.member.botMeta.tempData, ["name", "email", "guests"]);

const row = {
  ..._.mapValues(form, (value) => (_.isString(value) ? _.trim(value) : value)),
  guests: _.toNumber(_.get(form, "guests", 0)),
  member: this.member._id,
};
const { result } = await this.upsertDataToDataSource({ dataSourceId: "registrations", data: row });
const count = await this.countDataSource({ dataSourceId: "registrations", filter: { member: this.member._id } });
_.set(this.member, "meta.registration", { number: count, inserted: result.inserted });
delete this.member.botMeta.tempData;
