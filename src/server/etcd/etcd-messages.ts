/** The messages of etcd that a site sends and takes, with the numbers of their fields as in its `rpc.proto`. */
import { MessageFormat, type Decoded, type Encodable, type Fields } from './protobuf.ts';

const define = <const F extends Fields>(fields: F): MessageFormat<F> => new MessageFormat(fields);

const header = define({
  clusterId: [1, 'id'],
  memberId: [2, 'id'],
  revision: [3, 'integer'],
  raftTerm: [4, 'integer'],
});
const keyValue = define({ key: [1, 'bytes'], modRevision: [3, 'integer'], value: [5, 'bytes'] });
const event = define({ type: [1, 'integer'], keyValue: [2, keyValue] });
/** `EventType.DELETE`. */
export const DELETE_EVENT = 1;

const range = define({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  limit: [3, 'integer'],
  revision: [4, 'integer'],
  serializable: [7, 'flag'],
});
const rangeReply = define({
  header: [1, header],
  keyValues: [2, [keyValue]],
  more: [3, 'flag'],
  count: [4, 'integer'],
});
const put = define({ key: [1, 'bytes'], value: [2, 'bytes'] });
const deleteRange = define({ key: [1, 'bytes'], rangeEnd: [2, 'bytes'] });
const deleteRangeReply = define({ header: [1, header], deleted: [2, 'integer'] });

/** By default a comparison is `EQUAL` and of the `VERSION`, which is 0 if the key does not exist. */
const compare = define({ result: [1, 'integer'], target: [2, 'integer'], key: [3, 'bytes'], version: [4, 'integer'] });
const action = define({ range: [1, range], put: [2, put] });
const actionReply = define({ range: [1, rangeReply] });
const txn = define({ compare: [1, [compare]], success: [2, [action]], failure: [3, [action]] });
const txnReply = define({ header: [1, header], succeeded: [2, 'flag'], responses: [3, [actionReply]] });

const compact = define({ revision: [1, 'integer'], physical: [2, 'flag'] });
const headerReply = define({ header: [1, header] });

const status = define({});
const statusReply = define({
  header: [1, header],
  version: [2, 'text'],
  dbSize: [3, 'integer'],
  leader: [4, 'id'],
  errors: [8, 'texts'],
  dbSizeInUse: [9, 'integer'],
  isLearner: [10, 'flag'],
  dbSizeQuota: [12, 'integer'],
});

const authenticate = define({ name: [1, 'text'], password: [2, 'text'] });
const authenticateReply = define({ header: [1, header], token: [2, 'text'] });

const watchCreate = define({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  startRevision: [3, 'integer'],
  progressNotify: [4, 'flag'],
  fragment: [8, 'flag'],
});
const watch = define({ create: [1, watchCreate], progress: [3, status] });
const watchReply = define({
  header: [1, header],
  created: [3, 'flag'],
  canceled: [4, 'flag'],
  compactRevision: [5, 'integer'],
  cancelReason: [6, 'text'],
  fragment: [7, 'flag'],
  events: [11, [event]],
});

/** A method: its path, and what it takes and replies. */
export interface Method<Request extends Fields = Fields, Reply extends Fields = Fields> {
  readonly path: string;
  readonly request: MessageFormat<Request>;
  readonly reply: MessageFormat<Reply>;
}

function method<Request extends Fields, Reply extends Fields>(
  path: string,
  request: MessageFormat<Request>,
  reply: MessageFormat<Reply>,
): Method<Request, Reply> {
  return { path: `/etcdserverpb.${path}`, request, reply };
}

export const RANGE = method('KV/Range', range, rangeReply);
export const TXN = method('KV/Txn', txn, txnReply);
export const DELETE_RANGE = method('KV/DeleteRange', deleteRange, deleteRangeReply);
export const COMPACT = method('KV/Compact', compact, headerReply);
export const STATUS = method('Maintenance/Status', status, statusReply);
export const AUTHENTICATE = method('Auth/Authenticate', authenticate, authenticateReply);
export const WATCH = method('Watch/Watch', watch, watchReply);

type FieldsOf<T> = T extends MessageFormat<infer F> ? F : never;
export type WatchRequest = Encodable<FieldsOf<typeof watch>>;
export type WatchReply = Decoded<FieldsOf<typeof watchReply>>;
export type KeyValue = Decoded<FieldsOf<typeof keyValue>>;
