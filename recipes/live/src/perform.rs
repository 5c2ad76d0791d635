//! What each request is in `zookeeper-client`'s words.

use crate::convert::{self, acl_from_theirs, acl_to_theirs};
use crate::failure::code;
use crate::hub::{Hub, Kept};
use crate::watches;
use std::sync::Arc;
use std::time::Duration;
use zk_api::{
    AclList, CreateMode, ErrorCode, Identity, MultiOutcome, Op, OpResult, ReadOp, Request, Response, Text,
    Watch,
};
use zookeeper_client::{self as theirs, Acls, Client, Error as Failure, MultiReadResult, MultiWriteResult};

/// What becomes of a request.
pub(crate) type Answer = Result<(Response, Option<Watch>), Failure>;

/// Performs a request. It must hand it over before it waits for anything: the first poll is its place in the order.
pub(crate) async fn perform(client: Client, hub: Arc<Hub>, request: Request) -> Answer {
    let response = match request {
        Request::Create { path, data, acl, mode, stat } => {
            create(&client, path, data.bytes(), &acl, mode, stat).await?
        }
        Request::Delete { path, version } => {
            client.delete(&path, Some(version)).await?;
            Response::Deleted
        }
        Request::SetData { path, data, version } => {
            let stat = client.set_data(&path, data.bytes(), Some(version)).await?;
            Response::DataSet(convert::stat(&stat))
        }
        Request::Exists { .. } | Request::GetData { .. } | Request::GetChildren { .. } => {
            return read(&client, request).await;
        }
        Request::GetAcl { path } => {
            let (acl, stat) = client.get_acl(&path).await?;
            Response::Acl { acl: acl_from_theirs(&acl), stat: convert::stat(&stat) }
        }
        Request::SetAcl { path, acl, version } => {
            let acl = acl_to_theirs(&acl)?;
            Response::AclSet(convert::stat(&client.set_acl(&path, &acl, Some(version)).await?))
        }
        Request::Sync { path } => {
            client.sync(&path).await?;
            Response::Synced { path }
        }
        Request::Multi { ops } => Response::Multi(multi(&client, &ops).await?),
        Request::MultiRead { ops } => Response::MultiRead(multi_read(&client, &ops).await?),
        Request::AddWatch { path, mode } => {
            // Before it is sent: what is added again too often does no harm.
            let kept = Kept::new(hub, path.clone(), mode);
            let watcher = client.watch(&path, convert::add_watch_mode(mode)).await?;
            return Ok((Response::WatchAdded, Some(watches::persistent(watcher, kept))));
        }
        Request::GetEphemerals { prefix } => {
            let paths = client.list_ephemerals(&prefix).await?;
            Response::Ephemerals(paths.into_iter().map(Text::from).collect())
        }
        Request::GetAllChildrenNumber { path } => {
            let number = client.count_descendants_number(&path).await?;
            // What the server has sent had 32 bits.
            Response::AllChildrenNumber(u32::try_from(number).unwrap_or(u32::MAX))
        }
        Request::WhoAmI => {
            let users = client.list_auth_users().await?;
            Response::WhoAmI(users.iter().map(|user| Identity::new(user.scheme(), user.user())).collect())
        }
        Request::Auth { scheme, credentials } => {
            client.auth(&scheme, credentials.bytes()).await?;
            Response::Authenticated
        }
        Request::RemoveWatches { .. } | Request::CheckWatches { .. } | Request::CloseSession => {
            return Err(Failure::Unimplemented);
        }
    };
    Ok((response, None))
}

async fn create(
    client: &Client,
    path: Text,
    data: &[u8],
    acl: &AclList,
    mode: CreateMode,
    wants_stat: bool,
) -> Result<Response, Failure> {
    let acl = acl_to_theirs(acl)?;
    let (stat, sequence) = client.create(&path, data, &options(mode, &acl)?).await?;
    let path = if mode.is_sequential() { format!("{path}{sequence}").into() } else { path };
    Ok(Response::Created { path, stat: wants_stat.then(|| convert::stat(&stat)) })
}

fn options(mode: CreateMode, acl: &[theirs::Acl]) -> Result<theirs::CreateOptions<'_>, Failure> {
    let kind = match mode {
        CreateMode::Persistent | CreateMode::PersistentTtl(_) => theirs::CreateMode::Persistent,
        CreateMode::PersistentSequential | CreateMode::PersistentSequentialTtl(_) => {
            theirs::CreateMode::PersistentSequential
        }
        CreateMode::Ephemeral => theirs::CreateMode::Ephemeral,
        CreateMode::EphemeralSequential => theirs::CreateMode::EphemeralSequential,
        CreateMode::Container => theirs::CreateMode::Container,
    };
    let options = kind.with_acls(Acls::new(acl));
    match mode.ttl_ms() {
        None => Ok(options),
        // A server refuses a negative one as it does 0, which that crate refuses itself.
        Some(ms) => match u64::try_from(ms) {
            Ok(ms) => Ok(options.with_ttl(Duration::from_millis(ms))),
            Err(_) => Err(Failure::BadArguments(&"a negative time to live")),
        },
    }
}

/// Reads that may set a watch.
async fn read(client: &Client, request: Request) -> Answer {
    let data = |bytes: Vec<u8>, stat| Response::Data { data: bytes.into(), stat: convert::stat(&stat) };
    let exists = |stat: Option<theirs::Stat>| Response::Exists(stat.as_ref().map(convert::stat));
    let list = |names: Vec<String>, stat: Option<theirs::Stat>| {
        let names = names.into_iter().map(Text::from).collect();
        Response::Children { names, stat: stat.as_ref().map(convert::stat) }
    };
    let (response, watcher) = match request {
        Request::Exists { path, watch: false } => (exists(client.check_stat(&path).await?), None),
        Request::Exists { path, watch: true } => {
            let (stat, watcher) = client.check_and_watch_stat(&path).await?;
            (exists(stat), Some(watcher))
        }
        Request::GetData { path, watch: false } => {
            let (bytes, stat) = client.get_data(&path).await?;
            (data(bytes, stat), None)
        }
        Request::GetData { path, watch: true } => {
            let (bytes, stat, watcher) = client.get_and_watch_data(&path).await?;
            (data(bytes, stat), Some(watcher))
        }
        Request::GetChildren { path, watch: false, stat: false } => {
            (list(client.list_children(&path).await?, None), None)
        }
        Request::GetChildren { path, watch: true, stat: false } => {
            let (names, watcher) = client.list_and_watch_children(&path).await?;
            (list(names, None), Some(watcher))
        }
        Request::GetChildren { path, watch: false, stat: true } => {
            let (names, stat) = client.get_children(&path).await?;
            (list(names, Some(stat)), None)
        }
        Request::GetChildren { path, watch: true, stat: true } => {
            let (names, stat, watcher) = client.get_and_watch_children(&path).await?;
            (list(names, Some(stat)), Some(watcher))
        }
        _ => return Err(Failure::Unimplemented),
    };
    Ok((response, watcher.map(watches::one_shot)))
}

async fn multi(client: &Client, ops: &[Op]) -> Result<MultiOutcome, Failure> {
    let mut writer = client.new_multi_writer();
    for op in ops {
        match op {
            Op::Create { path, data, acl, mode, .. } => {
                let acl = acl_to_theirs(acl)?;
                writer.add_create(path, data.bytes(), &options(*mode, &acl)?)?;
            }
            Op::Delete { path, version } => writer.add_delete(path, Some(*version))?,
            Op::SetData { path, data, version } => writer.add_set_data(path, data.bytes(), Some(*version))?,
            Op::Check { path, version } => writer.add_check_version(path, *version)?,
        }
    }
    match writer.commit().await {
        Ok(results) => {
            Ok(MultiOutcome::Applied(ops.iter().zip(results).map(|(op, it)| result(op, it)).collect()))
        }
        Err(theirs::MultiWriteError::RequestFailed { source }) => Err(source),
        Err(theirs::MultiWriteError::OperationFailed { index, source }) => {
            let code_at = |at: usize| match at.cmp(&index) {
                std::cmp::Ordering::Less => None,
                std::cmp::Ordering::Equal => Some(code(&source)),
                std::cmp::Ordering::Greater => Some(ErrorCode::RuntimeInconsistency),
            };
            Ok(MultiOutcome::Failed((0..ops.len()).map(code_at).collect()))
        }
    }
}

fn result(op: &Op, result: MultiWriteResult) -> OpResult {
    let wants_stat = matches!(op, Op::Create { stat: true, .. });
    match result {
        MultiWriteResult::Create { path, stat } => {
            // Servers before 3.9 tell none here.
            let stat = (wants_stat && !stat.is_invalid()).then(|| convert::stat(&stat));
            OpResult::Created { path: path.into(), stat }
        }
        MultiWriteResult::Delete => OpResult::Deleted,
        MultiWriteResult::SetData { stat } => OpResult::DataSet(convert::stat(&stat)),
        // The only other kind there is.
        _ => OpResult::Checked,
    }
}

async fn multi_read(client: &Client, ops: &[ReadOp]) -> Result<Vec<Result<Response, ErrorCode>>, Failure> {
    let mut reader = client.new_multi_reader();
    for op in ops {
        match op {
            ReadOp::GetData { path } => reader.add_get_data(path)?,
            ReadOp::GetChildren { path } => reader.add_get_children(path)?,
        }
    }
    let results = reader.commit().await?.into_iter().map(|result| match result {
        MultiReadResult::Data { data, stat } => {
            Ok(Response::Data { data: data.into(), stat: convert::stat(&stat) })
        }
        MultiReadResult::Children { children } => {
            let names = children.into_iter().map(Text::from).collect();
            Ok(Response::Children { names, stat: None })
        }
        MultiReadResult::Error { err } => Err(code(&err)),
        _ => Err(ErrorCode::SystemError),
    });
    Ok(results.collect())
}
