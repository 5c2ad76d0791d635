//! Faults on demand and what clients say they do, by HTTP on the loopback interface.

mod local;

use crate::fault::Fault;
use crate::handle::{FaultError, Handle};
use crate::observer::Observer;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// So many events are told unless more are asked for.
const EVENTS: usize = 1000;

/// The bytes that a fault or an observation may have: a hundred times those of the longest fault.
const BODY_MOST: usize = 16 * 1024;

/// So many characters of what was wrong are said again.
const LINE_MOST: usize = 400;

/// Serves until the task is dropped.
pub(crate) async fn control(
    listener: TcpListener,
    address: SocketAddr,
    is_ensemble: bool,
    server: Handle,
    observer: Option<Arc<dyn Observer>>,
) {
    let observe = post(move |body| observe(observer, body));
    let help = get(move || async move { help(address, is_ensemble) });
    let routes = Router::new()
        .route("/", help)
        .route("/faults", post(faults))
        .route("/observe", observe)
        .route("/leader", get(leader))
        .route("/sessions", get(sessions))
        .route("/verdict", get(verdict))
        .route("/record", get(record))
        .fallback(|| async { line(StatusCode::NOT_FOUND, "no such path; GET / tells which there are") })
        .method_not_allowed_fallback(|| async {
            line(StatusCode::METHOD_NOT_ALLOWED, "not by this method; GET / tells by which")
        })
        .layer(DefaultBodyLimit::max(BODY_MOST))
        .layer(from_fn(local_only))
        .with_state(server);
    // It ends only with its socket, and then nobody can be told.
    let _ = axum::serve(listener, routes).await;
}

/// Refuses what a web page of somebody else's asks for through a browser on this machine.
async fn local_only(request: Request, next: Next) -> Response {
    match local::check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => line(StatusCode::FORBIDDEN, &why),
    }
}

async fn faults(State(server): State<Handle>, body: Result<Bytes, BytesRejection>) -> Response {
    let Ok(body) = body else {
        let why = format!("no fault has more than {BODY_MOST} bytes; GET / shows some");
        return line(StatusCode::PAYLOAD_TOO_LARGE, &why);
    };
    let fault = match Fault::from_json(&body) {
        Ok(fault) => fault,
        Err(why) => return line(StatusCode::BAD_REQUEST, &format!("not a fault: {why}; GET / shows some")),
    };
    match server.fault(fault).await {
        Ok(()) => line(StatusCode::OK, "done"),
        Err(error @ FaultError::Refused(_)) => line(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(error @ FaultError::Ended) => line(StatusCode::GONE, &error.to_string()),
    }
}

async fn observe(observer: Option<Arc<dyn Observer>>, body: Result<Bytes, BytesRejection>) -> Response {
    let Ok(body) = body else {
        return line(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!("no observation has more than {BODY_MOST} bytes"),
        );
    };
    let Some(observer) = observer else {
        let why = "nothing is promised here, so nothing is judged; start with --promises KIND=PATH";
        return line(StatusCode::BAD_REQUEST, why);
    };
    match observer.observe(&body) {
        Ok(answer) => told(Some(answer.await)),
        Err(why) => line(StatusCode::BAD_REQUEST, &format!("not an observation: {why}")),
    }
}

async fn leader(State(server): State<Handle>) -> Response {
    told(server.with(|core, now| core.show(now).leadership()).await)
}

async fn sessions(State(server): State<Handle>) -> Response {
    told(server.with(|core, now| core.show(now).sessions()).await)
}

async fn verdict(State(server): State<Handle>) -> Response {
    told(server.with(|core, now| core.verdict(now)).await)
}

async fn record(State(server): State<Handle>, RawQuery(query): RawQuery) -> Response {
    let last = match query.as_deref().unwrap_or_default() {
        "" => Some(EVENTS),
        query => query.strip_prefix("last=").and_then(|digits| digits.parse().ok()),
    };
    match last {
        Some(last) => told(server.with(move |core, _| core.record(last)).await),
        None => line(StatusCode::BAD_REQUEST, "expected /record?last=N, with a whole number"),
    }
}

fn told<T: Serialize>(answer: Option<T>) -> Response {
    let Some(answer) = answer else { return line(StatusCode::GONE, &FaultError::Ended.to_string()) };
    let json = serde_json::to_string(&answer).expect("it has a form in JSON");
    // With a line end, as terminals show it.
    ([(CONTENT_TYPE, "application/json")], json + "\n").into_response()
}

/// One line, of what a terminal only shows.
fn line(status: StatusCode, text: &str) -> Response {
    let spelt = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let mut text: String = text.chars().map(spelt).collect();
    if let Some((at, _)) = text.char_indices().nth(LINE_MOST) {
        text.truncate(at);
        text.push('…');
    }
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], text + "\n").into_response()
}

fn help(address: SocketAddr, is_ensemble: bool) -> Response {
    let at = format!("http://{address}");
    let fault = |json: &str| format!("  curl -s {at}/faults -d '{json}'\n");
    let faults: String = [
        r#"{"server-crash":{"down-ms":500}}"#,
        r#"{"server-crash":{"down-ms":500,"mid-sync":true}}"#,
        r#"{"server-pause":{"for-ms":3000}}"#,
        r#"{"drop":{"session":"0x…","what":"answers-lost","when":{"next-request":"create"}}}"#,
        r#"{"drop":{"session":"all","what":"requests-lost"}}"#,
        r#"{"drop":{"session":"0x…","what":{"in-flight":{"for-ms":500}},"when":{"next-request":"any"}}}"#,
        r#"{"drop":{"session":"0x…","what":"silence"}}"#,
        r#"{"expire":{"session":"0x…"}}"#,
        r#"{"expire-owner":{"reader":"0x…"}}"#,
        r#"{"slow-link":{"session":"0x…","delay-ms":200,"for-ms":5000}}"#,
        r#"{"slow-sync":{"sync-ms":300,"for-ms":5000}}"#,
        r#"{"clock-jump":{"by-ms":-60000}}"#,
    ]
    .map(fault)
    .concat();
    let of_ensembles: String = [
        r#"{"leader-crash":{"down-ms":500}}"#,
        r#"{"leader-crash":{"down-ms":500,"mid-sync":true}}"#,
        r#"{"leader-pause":{"for-ms":3000}}"#,
        r#"{"server-crash":{"server":1,"down-ms":500}}"#,
        r#"{"partition":{"cut":[[0,1],[1,0],[0,2],[2,0]],"for-ms":3000}}"#,
        r#"{"server-lag":{"server":1,"delay-ms":200,"for-ms":5000}}"#,
        r#"{"link-break":{"between":[0,1]}}"#,
    ]
    .map(fault)
    .concat();
    let of_ensembles = if is_ensemble { of_ensembles } else { String::new() };
    let text = format!(
        "zoocheck serve: a test server, which fails on demand.\n\n\
         GET  /leader          who leads, in which epoch, and what each server does\n\
         GET  /sessions        who is there: ids, addresses, watches, ephemerals\n\
         GET  /verdict         what the invariants say so far, and the promises if any are owed\n\
         GET  /record?last=N   the last N events\n\
         POST /faults          does a fault; what is wrong with it is one line, status 400\n\
         POST /observe         a client says what it does, such as {{\"session\":\"0x…\",\"enters\":\"/lock\"}}\n\n\
         Faults, under the names of the scenario files; a session is 0x and its digits, or all.\n\
         `server` chooses one of several, by its number; without it the first is struck, which is 0. A crash or a\n\
         pause ends before its time with {{\"server-start\":{{…}}}} or {{\"server-resume\":{{…}}}}, which may name a server.\n\
         `when` is \"now\" or {{\"next-request\":\"any\" | \"create\" | \"delete\" | \"read\"}}.\n\n{faults}{of_ensembles}\n\
         \x20 curl -s {at}/leader\n  curl -s {at}/sessions\n  curl -s {at}/verdict\n  curl -s '{at}/record?last=20'\n"
    );
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
