package engine

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/natsd/natsd/permission"
)

// userInfo is what a user may know about itself.
type userInfo struct {
	User        string           `json:"user"`
	Account     string           `json:"account"`
	AccountName string           `json:"account_name,omitempty"`
	UserName    string           `json:"user_name,omitempty"`
	Permissions *permission.Spec `json:"permissions,omitempty"`
	Expires     time.Duration    `json:"expires,omitempty"` // from now on, in whole seconds
}

// serveUser tells who asks who that is.
func (e *Engine) serveUser(k *call) {
	c := e.lookup(k.conn)
	if c == nil || c.gate&gateClosed != 0 {
		return
	}
	i := userInfo{User: c.userName(), Account: c.acc.name, AccountName: c.acc.title(), UserName: c.papers().label}
	if i.UserName == i.User {
		i.UserName = ""
	}
	if may := c.user.may(); may != nil {
		spec := may.Spec()
		i.Permissions = &spec
	}
	if c.user != nil && c.user.expires > e.wall {
		i.Expires = time.Duration(c.user.expires - e.wall).Truncate(time.Second)
	}
	e.tell(k, &i)
}

// serveExplain says what a user, or anybody in an account, may do with a subject, and by which rules.
func (e *Engine) serveExplain(k *call) {
	var r struct {
		User    string `json:"user"`    // a name, or a public key
		Account string `json:"account"` // where no user is named
		Subject string `json:"subject"`
		Queue   string `json:"queue"`
	}
	if json.Unmarshal(k.body, &r) != nil {
		e.misunderstood(k, errors.New(`the question is an object of strings, such as {"user": "alice", "subject": "orders.new"}`))
		return
	}
	o := e.opts // in force now; nothing of it changes
	e.diagnose(k, func() (any, error) {
		if r.User == "" && r.Account != "" {
			return explainIn(&o, r.Account, r.Subject, r.Queue)
		}
		return Explain(&o, r.User, r.Subject, r.Queue)
	})
}
