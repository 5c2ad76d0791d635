//! The observer, which judges what clients say they do by what the servers know of their sessions.

use serde::Serialize;
use serde_json::Value;
use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;
use zk_api::{Data, SessionId, Text, Zxid};
use zk_proto::txn::{Txn, TxnBody};

/// The answer to a client: at once, or when what it asked for is done.
pub type Answer = Pin<Box<dyn Future<Output = Value> + Send>>;

/// Hears what clients say they do (`POST /observe`), and judges it. It is told what the servers know of sessions and
/// of znodes before any client can see the consequences.
pub trait Observer: Debug + Send + Sync {
    /// A session is open from now on.
    fn opened(&self, session: SessionId, timeout_ms: u32);

    /// Its close has committed: its client closed it, or it has expired.
    fn closed(&self, session: SessionId, expired: bool);

    /// This session has made a znode, whose owner is `NONE` unless it is ephemeral.
    fn created(&self, path: &Text, by: SessionId, owner: SessionId, zxid: Zxid);

    /// This session has given a znode data: when it made it, or later.
    fn written(&self, path: &Text, by: SessionId, data: &Data, zxid: Zxid);

    /// A znode is gone: by a request of this session, or, where it is `NONE`, with its own.
    fn deleted(&self, path: &Text, by: SessionId);

    /// A client says something. Fails with what is wrong with the body, in a line.
    fn observe(&self, body: &[u8]) -> Result<Answer, String>;

    /// The judgement so far, given what the servers are like at this moment.
    fn judge(&self, moment: &Moment) -> Judgement;
}

/// Tells what a transaction does to znodes.
pub(crate) fn tell_of_znodes(observer: &dyn Observer, txn: &Txn, body: &TxnBody) {
    match body {
        TxnBody::Create { path, data, kind, .. } => {
            observer.created(path, txn.session, kind.owner().unwrap_or(SessionId::NONE), txn.zxid);
            observer.written(path, txn.session, data, txn.zxid);
        }
        TxnBody::SetData { path, data, .. } => observer.written(path, txn.session, data, txn.zxid),
        TxnBody::Delete { path } => observer.deleted(path, txn.session),
        TxnBody::CloseSession { ephemerals, .. } => {
            ephemerals.iter().for_each(|path| observer.deleted(path, SessionId::NONE))
        }
        TxnBody::Multi { ops } => ops.iter().for_each(|op| tell_of_znodes(observer, txn, op)),
        TxnBody::CreateSession { .. }
        | TxnBody::SetAcl { .. }
        | TxnBody::Check { .. }
        | TxnBody::Error(_)
        | TxnBody::MultiError(_) => {}
    }
}

/// The servers at a moment.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// For how long no client has connected, and no znode nor session has changed. Whoever only looks, or tries in
    /// vain, moves nothing.
    pub still_for: Duration,
    /// Whether all servers serve.
    pub all_serve: bool,
    /// The open sessions that are connected.
    pub connected: Vec<SessionId>,
    /// All znodes with their owners, `NONE` if not ephemeral, in order of their paths.
    pub znodes: Vec<(Text, SessionId)>,
}

/// What an [`Observer`] has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Whether nothing was broken.
    #[serde(skip)]
    pub held: bool,
    /// Whether everything that is judged was put to the test.
    #[serde(skip)]
    pub is_decided: bool,
    /// The same for people, in a line.
    #[serde(skip)]
    pub line: String,
    /// For machines.
    #[serde(flatten)]
    pub told: Value,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use zk_api::open_acl;
    use zk_proto::message::Xid;
    use zk_proto::txn::NodeKind;

    /// What it is told of znodes.
    #[derive(Debug, Default)]
    struct Heard(Mutex<Vec<(Text, &'static str, SessionId)>>);

    impl Observer for Heard {
        fn opened(&self, _: SessionId, _: u32) {}

        fn closed(&self, _: SessionId, _: bool) {}

        fn created(&self, path: &Text, by: SessionId, owner: SessionId, _: Zxid) {
            assert_eq!(by, SessionId::new(1), "whose transaction it is");
            self.0.lock().expect("nobody panics").push((path.clone(), "created", owner));
        }

        fn written(&self, path: &Text, by: SessionId, data: &Data, _: Zxid) {
            if *data != Data::NULL {
                self.0.lock().expect("nobody panics").push((path.clone(), "written", by));
            }
        }

        fn deleted(&self, path: &Text, by: SessionId) {
            self.0.lock().expect("nobody panics").push((path.clone(), "deleted", by));
        }

        fn observe(&self, _: &[u8]) -> Result<Answer, String> {
            Err("nobody says anything".into())
        }

        fn judge(&self, _: &Moment) -> Judgement {
            unreachable!("nobody asks")
        }
    }

    #[test]
    fn what_becomes_of_znodes_is_told_in_its_order_be_it_in_a_multi_or_with_a_session() {
        let (me, other) = (SessionId::new(1), SessionId::new(2));
        let create = |path: &str, kind| TxnBody::Create {
            path: path.into(),
            data: Data::NULL,
            acl: open_acl(),
            kind,
            parent_created: 1,
        };
        let delete = |path: &str| TxnBody::Delete { path: path.into() };
        let ends = TxnBody::CloseSession { ephemerals: vec!["/c".into(), "/d".into()], expired: true };
        let multi = TxnBody::Multi { ops: vec![delete("/b"), create("/c", NodeKind::Ephemeral(other))] };
        let sets = TxnBody::SetData { path: "/a".into(), data: "1".into(), version: 1 };
        let heard = Heard::default();
        let persistent = create("/a", NodeKind::Persistent);
        for body in [persistent, sets, create("/b", NodeKind::Ephemeral(me)), multi, ends] {
            let txn = Txn { zxid: Zxid::new(1, 1), session: me, xid: Xid(1), time_ms: 0, body };
            tell_of_znodes(&heard, &txn, &txn.body);
        }
        let told = [
            ("/a", "created", SessionId::NONE),
            ("/a", "written", me),
            ("/b", "created", me),
            ("/b", "deleted", me),
            ("/c", "created", other),
            ("/c", "deleted", SessionId::NONE),
            ("/d", "deleted", SessionId::NONE),
        ];
        assert_eq!(
            *heard.0.lock().expect("nobody panics"),
            told.map(|(path, how, who)| (Text::from(path), how, who))
        );
    }
}
