/**
 * The requests of the pure log to etcd, and the replies. All of it is plain data. `EtcdLog` returns
 * requests as outputs of kind `request`. An adapter executes them, and passes each reply to
 * `RedLog.onReply`.
 *
 * What the adapter must do:
 * - It has one connection to one endpoint at a time. All requests of a connection go to that
 *   endpoint. It sends `connected` once per connection, before any reply of it, and `disconnected`
 *   when the connection is over.
 * - It sends requests in the order in which it gets them, and does not wait for one before it sends
 *   the next.
 * - It passes on the events of a watch in order, each once per connection and none left out.
 *   Deletions are left out. Events that were fragmented may come in several replies. `progress`
 *   comes after all events up to its revision.
 * - It sends at most one reply to each request but `watch`, with the id of the request. After
 *   `disconnected` it sends none to earlier requests: the log does not know their ids any more, and
 *   would ignore them.
 * - `range` at revision 0 and `create` are linearizable.
 * - On `reconnect` it closes its connection, without `disconnected`, and connects to the next
 *   endpoint, in a circle. While no endpoint can be reached, it goes on trying by itself, with a
 *   pause of its own.
 *
 * What it need not do: repeat, time out, or remember anything. A reply may be lost: the log notices
 * after a time and asks for another endpoint. A write may take effect after its connection is over,
 * after its process has ended, or never. The log repeats a write under the same key, which
 * therefore has the same value.
 */

/** A key that stores a value, with the revision that stored it. */
export interface EtcdEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly modRevision: number;
}

/** Numbers the requests of a node: no two have one id. */
export type EtcdRequestId = number;

interface WithId {
  readonly id: EtcdRequestId;
}

/** Keys from `key` on, below `end`. */
export interface EtcdKeyRange {
  readonly key: string;
  readonly end: string;
}

/** A request that has a reply. Keys are ASCII and sorted by their bytes. */
export type EtcdCall =
  /** Stores a value if the key does not exist. */
  | {
      readonly kind: 'etcd.create';
      readonly key: string;
      readonly value: Uint8Array;
    }
  /** The first `limit` keys of a range, in the order of keys, at a revision; 0 means the latest. */
  | ({
      readonly kind: 'etcd.range';
      readonly limit: number;
      readonly revision: number;
    } & EtcdKeyRange)
  /**
   * Values that are stored from a revision on. There is one watch at a time: a new one takes the
   * place of the last one.
   */
  | ({
      readonly kind: 'etcd.watch';
      readonly fromRevision: number;
    } & EtcdKeyRange)
  /** Up to which revision the watch has sent all events. */
  | { readonly kind: 'etcd.progress' }
  | ({ readonly kind: 'etcd.delete' } & EtcdKeyRange)
  | { readonly kind: 'etcd.compact'; readonly revision: number }
  | { readonly kind: 'etcd.status' };

export type EtcdRequest =
  | (EtcdCall & WithId)
  /** Leaves this endpoint for the next one. It has no reply but `connected`. */
  | { readonly kind: 'etcd.reconnect' };

/** Why a request has failed, if the log has to know. */
export type EtcdFailure =
  /** The quota is used up. */
  | 'no-space'
  /** The revision is not there any more. */
  | 'compacted'
  /** Anything else: whether a write was done is not known. */
  | 'other';

/** A reply to the request that has this id. `revision` is that of the header of etcd's response. */
export type EtcdAnswer = WithId &
  /** The key exists: stored by this request, or by an earlier one under that key. */
  (
    | { readonly kind: 'etcd.created'; readonly revision: number }
    /** `hasMore`: whether the range has keys beyond the limit. */
    | {
        readonly kind: 'etcd.range';
        readonly revision: number;
        readonly entries: readonly EtcdEntry[];
        readonly hasMore: boolean;
      }
    /** With the id of the watch. */
    | {
        readonly kind: 'etcd.events';
        readonly revision: number;
        readonly entries: readonly EtcdEntry[];
      }
    | { readonly kind: 'etcd.progress'; readonly revision: number }
    /**
     * The watch has ended, by its id: what came after its revision is compacted, or etcd has ended
     * it.
     */
    | { readonly kind: 'etcd.canceled'; readonly message: string }
    | { readonly kind: 'etcd.deleted'; readonly revision: number }
    | { readonly kind: 'etcd.compacted' }
    /**
     * `usedBytes`: of the database without free pages. `sizeBytes`: of its file, which etcd holds
     * against its quota.
     */
    | {
        readonly kind: 'etcd.status';
        readonly usedBytes: number;
        readonly sizeBytes: number;
        /** As etcd reports it; the default of etcd if it does not. */
        readonly quotaBytes: number;
      }
    | {
        readonly kind: 'etcd.failed';
        readonly reason: EtcdFailure;
        readonly message: string;
      }
  );

export type EtcdReply =
  | EtcdAnswer
  | { readonly kind: 'etcd.connected'; readonly endpoint: string }
  | { readonly kind: 'etcd.disconnected'; readonly message: string };

/** Where a deployment has its log on etcd: the same at all sites. */
export interface EtcdLogPlace {
  /** The random name of the deployment. */
  readonly deployment: string;
  /** Of the red log: `restore-red` begins a new one. */
  readonly generation: number;
}
