//! What the clients of whole servers ask for, and the state that their ensemble begins with.

use super::config::Work;
use zk_api::{CreateMode, Data, Op, Request, SessionId, Text, Zxid, open_acl};
use zk_proto::message::Password;
use zk_proto::sessions::{Session, SessionTable};
use zk_proto::tree::{DataTree, Node};
use zk_proto::txn::NodeKind;

/// The session that is there from the beginning.
pub(super) const SESSION: SessionId = SessionId::new(0x100);
pub(super) const PASSWORD: Password = [7; 16];
pub(super) const TIMEOUT_MS: u32 = 10_000;

/// Holds sequential znodes, of which there were some.
const QUEUE: &str = "/queue";
/// Has no children. The one that the client watches.
pub(super) const PLAIN: &str = "/plain";

/// So many children were created in the queue, and none is left.
const CREATED: i32 = 2;

/// What there is before anything happens, as recipe models have it: znodes, and how many children those ever had.
pub(super) fn beginning() -> (Vec<Text>, Vec<(Text, i32)>) {
    (vec![QUEUE.into(), PLAIN.into()], vec![(QUEUE.into(), CREATED)])
}

/// The last transaction that anything of that is of.
pub(super) fn beginning_ends() -> Zxid {
    Zxid::new(0, beginning().0.len() as u32)
}

/// The same on every disk, at zxid zero: the tree, and the client's session.
pub(super) fn image() -> (DataTree, SessionTable) {
    let (paths, counters) = beginning();
    let mut tree = DataTree::new();
    for (nth, path) in (1..).zip(paths) {
        let created = counters.iter().find(|(of, _)| *of == path).map_or(0, |(_, created)| *created);
        let node = Node::new(Data::NULL, open_acl(), NodeKind::Persistent, Zxid::new(0, nth), 0);
        tree.restore(path, Node { created, ..node });
    }
    let mut sessions = SessionTable::default();
    sessions.insert(SESSION, Session { timeout_ms: TIMEOUT_MS, password: PASSWORD });
    (tree, sessions)
}

/// What the client asks for the `number`th time.
pub(super) fn request(work: Work, number: i64) -> Request {
    let all = match work {
        Work::Counters => vec![sequential()],
        Work::Multis => vec![failing(), Request::Multi { ops: vec![delete(), free()] }],
        Work::Sessions => vec![create("/own", CreateMode::Ephemeral), Request::CloseSession],
        Work::Watches => vec![
            Request::GetData { path: PLAIN.into(), watch: true },
            Request::SetData { path: PLAIN.into(), data: "new".into(), version: -1 },
            Request::GetData { path: PLAIN.into(), watch: false },
        ],
    };
    let nth = (number - 1).rem_euclid(all.len() as i64);
    all.into_iter().nth(nth as usize).expect("it goes round")
}

fn create(path: &str, mode: CreateMode) -> Request {
    Request::Create { path: path.into(), data: "".into(), acl: open_acl(), mode, stat: false }
}

fn sequential() -> Request {
    create(&format!("{QUEUE}/n-"), CreateMode::PersistentSequential)
}

fn delete() -> Op {
    Op::Delete { path: PLAIN.into(), version: -1 }
}

/// Its first half could be done, its second cannot.
fn failing() -> Request {
    Request::Multi { ops: vec![free(), Op::Check { path: PLAIN.into(), version: 9 }] }
}

fn free() -> Op {
    let (path, mode) = (format!("{QUEUE}/free").into(), CreateMode::Persistent);
    Op::Create { path, data: "".into(), acl: open_acl(), mode, stat: false }
}
