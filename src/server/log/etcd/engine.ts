/** The engine of the red log that etcd keeps: what a majority of its servers has is in the log. */
import { MAX_RECORD_BYTES } from './etcd-groups.ts';
import type { RedLogEngine } from '../red-log-engine.ts';
import { ETCD_LOG_PARTS, EtcdLog, type EtcdLogOptions } from './etcd-log.ts';
import { ETCD_MESSAGE_FORMAT } from './etcd-messages.ts';

/** The classes of a node and of its parts. Tests replace some. */
export const ETCD_PARTS = { EtcdLog, ...ETCD_LOG_PARTS };

export function createEtcdEngine(
  place: EtcdLogOptions,
  parts: typeof ETCD_PARTS = ETCD_PARTS,
): RedLogEngine {
  return {
    createNode: (options) => new parts.EtcdLog(options, place, parts),
    messages: ETCD_MESSAGE_FORMAT,
    hasServers: true,
    maxRecordBytes: MAX_RECORD_BYTES,
  };
}
