const { text: comment, post_id: postId, from } = this.messageEvent.data;
await this.savePostCommentAnalytics({
  comment,
  postId,
  channelId: this.channel._id,
  memberId: this.member._id,
  fbId: this.messageEvent.from,
  name: from.name,
  isMatched: /\bwin(ning)?\b/i.test(comment),
});
