package livechat
