//! Whoever asks for a session gets one that is new, or its own if that lives; and nobody gets another's.
//!
//! A leader decides: by what stands and what it has proposed. What a learner tells its client is its leader's word.

use crate::expiry::Expiry;
use crate::{Invariant, Report};
use std::collections::BTreeMap;
use zk_api::SessionId;
use zk_proto::message::{ConnId, ConnectRequest, ConnectResponse, Password};

/// Connections that have asked for a session, until they are told.
#[derive(Debug, Default)]
pub struct Handshakes {
    asked: BTreeMap<ConnId, Asked>,
    /// What a leader is to say of a connection of a learner's.
    owed: BTreeMap<ConnId, bool>,
}

/// What a client asks for.
#[derive(Debug)]
struct Asked {
    request: ConnectRequest,
    /// What a new session is to be.
    offer: (SessionId, Password),
    word: Word,
}

/// What is said of a session that a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// Nothing yet.
    Awaited,
    /// Whether it is the client's.
    Said(bool),
    /// Either, by a leader that does not know yet of a later one, or whose epoch is at its end.
    Either,
}

const NAME: Invariant = Invariant::SessionsToOwners;

/// What a server is to an ensemble when a client asks it for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// It leads the newest epoch.
    Leads,
    /// It leads one before.
    Led,
    /// It asks its leader.
    Learns,
}

impl Handshakes {
    /// A client asks a server for a session.
    pub fn asks(
        &mut self,
        conn: ConnId,
        request: &ConnectRequest,
        offer: (SessionId, Password),
        rank: Rank,
        expiry: &Expiry,
    ) {
        let word = match rank {
            Rank::Leads if !expiry.is_worn_out() => {
                Word::Said(expiry.is_owner(request.session, &request.password))
            }
            Rank::Leads | Rank::Led => Word::Either,
            Rank::Learns => Word::Awaited,
        };
        self.asked.insert(conn, Asked { request: request.clone(), offer, word });
    }

    /// A learner asks the leader of the newest epoch whether a session is a client's.
    pub fn forwarded(&mut self, conn: ConnId, session: SessionId, password: &Password, expiry: &Expiry) {
        if !expiry.is_worn_out() {
            self.owed.insert(conn, expiry.is_owner(session, password));
        }
    }

    /// A leader answers that.
    pub fn says(&mut self, conn: ConnId, valid: bool, report: &mut Report) {
        if let Some(owed) = self.owed.remove(&conn) {
            report.check(NAME, valid == owed, || {
                format!("{conn:?}: a leader says {valid} of who asks for a session, should be {owed}")
            });
        }
    }

    /// The learner hears it.
    pub fn heard(&mut self, conn: ConnId, valid: bool) {
        if let Some(asked) = self.asked.get_mut(&conn) {
            asked.word = Word::Said(valid);
        }
    }

    /// A server tells a client which session it has. `grants` is the timeout for one that asks for so much, and
    /// `is_open` tells of a session whether it is, as far as that server has come. It need not have come to the
    /// beginning of one that moves: its leader's word is enough.
    pub fn connected(
        &mut self,
        conn: ConnId,
        response: &ConnectResponse,
        grants: impl Fn(u32) -> u32,
        is_open: impl Fn(SessionId) -> bool,
        report: &mut Report,
    ) {
        let Some(Asked { request, offer, word }) = self.asked.remove(&conn) else {
            return report.broken(NAME, format!("{conn:?} is told of a session for which it did not ask"));
        };
        let timeout_ms = grants(request.timeout_ms);
        let granted = |(session, password)| ConnectResponse { timeout_ms, session, password };
        let refused = ConnectResponse { timeout_ms: 0, session: SessionId::NONE, password: [0; 16] };
        let own = granted((request.session, request.password));
        let (expected, is_right) = match word {
            _ if request.session == SessionId::NONE => {
                let new = granted(offer);
                (format!("{new:?}"), *response == new && is_open(new.session))
            }
            Word::Said(true) => (format!("{own:?}"), *response == own),
            Word::Said(false) => (format!("{refused:?}"), *response == refused),
            Word::Awaited => ("nothing, before its leader says so".to_owned(), false),
            Word::Either => (format!("{own:?} or {refused:?}"), *response == own || *response == refused),
        };
        report.check(NAME, is_right, || {
            format!("{conn:?} asks for {} and is told {response:?}, should be {expected}", request.session)
        });
        if *response == refused {
            report.case("session refused");
        } else if request.session != SessionId::NONE {
            report.case("session taken over");
        }
    }

    /// A connection is over.
    pub fn closed(&mut self, conn: ConnId) {
        self.asked.remove(&conn);
        self.owed.remove(&conn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_api::Zxid;
    use zk_proto::message::Xid;
    use zk_proto::txn::{Txn, TxnBody};

    const C: ConnId = ConnId(1);
    const S: SessionId = SessionId::new(7);
    const NEW: (SessionId, Password) = (SessionId::new(8), [8; 16]);
    const PASSWORD: Password = [7; 16];

    fn expiry() -> Expiry {
        let body = TxnBody::CreateSession { timeout_ms: 3000, password: PASSWORD };
        let open = Txn { zxid: Zxid::new(1, 1), session: S, xid: Xid(0), time_ms: 0, body };
        let mut expiry = Expiry::default();
        expiry.proposed(&open, false, 0, &mut Report::default());
        expiry
    }

    fn response(session: SessionId, password: Password) -> ConnectResponse {
        let timeout_ms = if session == SessionId::NONE { 0 } else { 3000 };
        ConnectResponse { timeout_ms, session, password }
    }

    /// Whether an answer to who asks for this is wrong.
    fn is_caught(
        session: SessionId,
        password: Password,
        rank: Rank,
        word: Option<bool>,
        answer: ConnectResponse,
    ) -> bool {
        let (mut handshakes, mut report) = (Handshakes::default(), Report::default());
        let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms: 9000, session, password };
        handshakes.asks(C, &request, NEW, rank, &expiry());
        word.into_iter().for_each(|valid| handshakes.heard(C, valid));
        handshakes.connected(C, &answer, |_| 3000, |_| true, &mut report);
        !report.broken.is_empty()
    }

    #[test]
    fn a_new_session_is_the_one_that_was_offered_with_its_password() {
        let none = (SessionId::NONE, [0; 16]);
        assert!(!is_caught(none.0, none.1, Rank::Learns, None, response(NEW.0, NEW.1)));
        assert!(is_caught(none.0, none.1, Rank::Learns, None, response(S, PASSWORD)));
        assert!(is_caught(none.0, none.1, Rank::Leads, None, response(NEW.0, PASSWORD)));
        let long = ConnectResponse { timeout_ms: 9000, ..response(NEW.0, NEW.1) };
        assert!(is_caught(none.0, none.1, Rank::Leads, None, long));
    }

    #[test]
    fn a_leader_grants_a_session_to_who_has_its_password_and_to_nobody_else() {
        let (own, refused) = (response(S, PASSWORD), response(SessionId::NONE, [0; 16]));
        assert!(!is_caught(S, PASSWORD, Rank::Leads, None, own.clone()));
        assert!(is_caught(S, PASSWORD, Rank::Leads, None, refused.clone()));
        assert!(!is_caught(S, [9; 16], Rank::Leads, None, refused));
        assert!(is_caught(S, [9; 16], Rank::Leads, None, response(S, [9; 16])));
    }

    #[test]
    fn a_learner_says_what_its_leader_says_and_nothing_before() {
        let (own, refused) = (response(S, PASSWORD), response(SessionId::NONE, [0; 16]));
        assert!(!is_caught(S, PASSWORD, Rank::Learns, Some(true), own.clone()));
        assert!(!is_caught(S, PASSWORD, Rank::Learns, Some(false), refused.clone()));
        assert!(is_caught(S, PASSWORD, Rank::Learns, Some(false), own.clone()));
        assert!(is_caught(S, PASSWORD, Rank::Learns, None, own));
        assert!(is_caught(S, PASSWORD, Rank::Learns, None, refused));
    }

    #[test]
    fn a_leaders_word_for_who_has_no_password_is_caught() {
        for (password, valid, caught) in
            [(PASSWORD, true, false), (PASSWORD, false, true), ([9; 16], true, true)]
        {
            let (mut handshakes, mut report) = (Handshakes::default(), Report::default());
            handshakes.forwarded(C, S, &password, &expiry());
            handshakes.says(C, valid, &mut report);
            assert_eq!(!report.broken.is_empty(), caught);
        }
    }

    #[test]
    fn a_new_session_is_granted_where_its_server_has_come_to_its_beginning() {
        let (mut handshakes, mut report) = (Handshakes::default(), Report::default());
        let (session, password) = (SessionId::NONE, [0; 16]);
        let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms: 9000, session, password };
        handshakes.asks(C, &request, NEW, Rank::Leads, &expiry());
        handshakes.connected(C, &response(NEW.0, NEW.1), |_| 3000, |_| false, &mut report);
        assert_eq!(report.broken[0].0, NAME);
    }

    #[test]
    fn a_leader_of_the_past_may_say_either_and_nothing_else() {
        let (own, refused) = (response(S, PASSWORD), response(SessionId::NONE, [0; 16]));
        assert!(
            !is_caught(S, PASSWORD, Rank::Led, None, own)
                && !is_caught(S, PASSWORD, Rank::Led, None, refused)
        );
        assert!(is_caught(S, PASSWORD, Rank::Led, None, response(NEW.0, NEW.1)));
    }

    #[test]
    fn sessions_that_are_refused_and_taken_over_are_counted() {
        let cases = |session, password, answer: ConnectResponse| {
            let (mut handshakes, mut report) = (Handshakes::default(), Report::default());
            let request = ConnectRequest { last_zxid: Zxid::ZERO, timeout_ms: 9000, session, password };
            handshakes.asks(C, &request, NEW, Rank::Leads, &expiry());
            handshakes.connected(C, &answer, |_| 3000, |_| true, &mut report);
            report.cases.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(cases(S, PASSWORD, response(S, PASSWORD)), ["session taken over"]);
        assert_eq!(cases(S, [9; 16], response(SessionId::NONE, [0; 16])), ["session refused"]);
        assert!(cases(SessionId::NONE, [0; 16], response(NEW.0, NEW.1)).is_empty());
    }
}
