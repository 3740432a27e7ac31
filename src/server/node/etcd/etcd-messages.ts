/**
 * The messages of etcd that a site sends and receives: the fields that it uses, with their numbers
 * in `rpc.proto`.
 */
import { MessageFormat, type Decoded, type Encodable, type Fields } from './protobuf.ts';

const define = <const F extends Fields>(fields: F): MessageFormat<F> => new MessageFormat(fields);

const header = define({ revision: [3, 'integer'] });
const keyValue = define({
  key: [1, 'bytes'],
  modRevision: [3, 'integer'],
  value: [5, 'bytes'],
});
const event = define({ type: [1, 'integer'], keyValue: [2, keyValue] });
/** `EventType.DELETE`. */
export const DELETE_EVENT = 1;

const range = define({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  limit: [3, 'integer'],
  revision: [4, 'integer'],
});
const rangeReply = define({
  header: [1, header],
  keyValues: [2, [keyValue]],
  more: [3, 'flag'],
});
const put = define({ key: [1, 'bytes'], value: [2, 'bytes'] });
const deleteRange = define({ key: [1, 'bytes'], rangeEnd: [2, 'bytes'] });

/**
 * A comparison. By default, it tests whether the `VERSION` of the key is `EQUAL`. The version is 0
 * if the key does not exist.
 */
const compare = define({ key: [3, 'bytes'], version: [4, 'integer'] });
const action = define({ put: [2, put] });
const txn = define({ compare: [1, [compare]], success: [2, [action]] });

const compact = define({ revision: [1, 'integer'] });
/** The part that a site reads of most replies. */
const headerReply = define({ header: [1, header] });

const status = define({});
const statusReply = define({
  dbSize: [3, 'integer'],
  dbSizeInUse: [9, 'integer'],
  dbSizeQuota: [12, 'integer'],
});

const authenticate = define({ name: [1, 'text'], password: [2, 'text'] });
const authenticateReply = define({ token: [2, 'text'] });

const watchCreate = define({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  startRevision: [3, 'integer'],
  fragment: [8, 'flag'],
});
const watch = define({ create: [1, watchCreate], progress: [3, status] });
const watchReply = define({
  header: [1, header],
  created: [3, 'flag'],
  canceled: [4, 'flag'],
  compactRevision: [5, 'integer'],
  cancelReason: [6, 'text'],
  events: [11, [event]],
});

/** A method of etcd: its path, and the messages that it receives and returns. */
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
export const TXN = method('KV/Txn', txn, headerReply);
export const DELETE_RANGE = method('KV/DeleteRange', deleteRange, headerReply);
export const COMPACT = method('KV/Compact', compact, headerReply);
export const STATUS = method('Maintenance/Status', status, statusReply);
export const AUTHENTICATE = method('Auth/Authenticate', authenticate, authenticateReply);
export const WATCH = method('Watch/Watch', watch, watchReply);

type FieldsOf<T> = T extends MessageFormat<infer F> ? F : never;
export type WatchRequest = Encodable<FieldsOf<typeof watch>>;
export type WatchReply = Decoded<FieldsOf<typeof watchReply>>;
export type KeyValue = Decoded<FieldsOf<typeof keyValue>>;
