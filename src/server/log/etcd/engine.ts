/** The engine of the red log that etcd keeps: what a majority of its servers has is in the log. */
import { MAX_RECORD_BYTES } from './etcd-groups.ts';
import type { RedLogEngine } from '../red-log-engine.ts';
import { EtcdLog, type EtcdLogOptions } from './etcd-log.ts';
import { ETCD_MESSAGE_FORMAT } from './etcd-messages.ts';

/** @param Log another class in tests that plant faults */
export function createEtcdEngine(
  place: EtcdLogOptions,
  Log: typeof EtcdLog = EtcdLog,
): RedLogEngine {
  return {
    createNode: (options) => new Log(options, place),
    messages: ETCD_MESSAGE_FORMAT,
    hasServers: true,
    maxRecordBytes: MAX_RECORD_BYTES,
  };
}
