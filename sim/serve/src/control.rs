//! Faults on demand, by HTTP on the loopback interface.

use crate::fault::Fault;
use crate::running::{FaultError, Handle};
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// So many events are told unless more are asked for.
const EVENTS: usize = 1000;

/// Serves until the task is dropped.
pub(crate) async fn control(listener: TcpListener, address: SocketAddr, server: Handle) {
    let help = get(move || async move { help(address) });
    let routes = Router::new()
        .route("/", help)
        .route("/faults", post(faults))
        .route("/sessions", get(sessions))
        .route("/verdict", get(verdict))
        .route("/record", get(record))
        .fallback(|| async { line(StatusCode::NOT_FOUND, "no such path; GET / tells which there are") })
        .with_state(server);
    // It ends only with its socket, and then nobody can be told.
    let _ = axum::serve(listener, routes).await;
}

async fn faults(State(server): State<Handle>, body: Bytes) -> Response {
    let fault: Fault = match serde_json::from_slice(&body) {
        Ok(fault) => fault,
        Err(error) => {
            return line(StatusCode::BAD_REQUEST, &format!("not a fault: {error}; GET / shows some"));
        }
    };
    match server.fault(fault).await {
        Ok(()) => line(StatusCode::OK, "done"),
        Err(error @ FaultError::Refused(_)) => line(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(error @ FaultError::Ended) => line(StatusCode::GONE, &error.to_string()),
    }
}

async fn sessions(State(server): State<Handle>) -> Response {
    told(server.with(|core, _| core.sessions()).await)
}

async fn verdict(State(server): State<Handle>) -> Response {
    told(server.with(|core, _| core.verdict()).await)
}

/// How many of the last events are asked for.
#[derive(Deserialize)]
struct Last {
    last: Option<String>,
}

async fn record(State(server): State<Handle>, Query(asked): Query<Last>) -> Response {
    let last = match asked.last.as_deref().map(str::parse) {
        None => EVENTS,
        Some(Ok(last)) => last,
        Some(Err(_)) => return line(StatusCode::BAD_REQUEST, "last: expected a whole number"),
    };
    told(server.with(move |core, _| core.record(last)).await)
}

fn told<T: Serialize>(answer: Option<T>) -> Response {
    match answer {
        Some(answer) => Json(answer).into_response(),
        None => line(StatusCode::GONE, &FaultError::Ended.to_string()),
    }
}

fn line(status: StatusCode, text: &str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{text}\n")).into_response()
}

fn help(address: SocketAddr) -> Response {
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
    let text = format!(
        "zoocheck serve: a test server, which fails on demand.\n\n\
         GET  /sessions        who is there: ids, addresses, watches, ephemerals\n\
         GET  /verdict         what the always-watched invariants say so far\n\
         GET  /record?last=N   the last N events\n\
         POST /faults          does a fault; what is wrong with it is one line, status 400\n\n\
         Faults, under the names of the scenario files; a session is 0x and its digits, or all.\n\
         `when` is \"now\" or {{\"next-request\":\"any\" | \"create\" | \"delete\" | \"read\"}}.\n\n{faults}\n\
         \x20 curl -s {at}/sessions\n  curl -s {at}/verdict\n  curl -s '{at}/record?last=20'\n"
    );
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
