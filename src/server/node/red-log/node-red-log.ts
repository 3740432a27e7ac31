/**
 * The engine of the red logs that `cluster.json` names, and the connections to etcd, one for each
 * log.
 */
import { EtcdAdapter } from '../etcd/etcd-adapter.ts';
import type { EtcdServers } from '../etcd/etcd-channel.ts';
import { loadGrpc, type GrpcModule } from '../etcd/load-grpc.ts';
import { createEtcdEngine } from '../../log/etcd/engine.ts';
import { ETCD_MESSAGE_FORMAT } from '../../log/etcd/etcd-messages.ts';
import type { EtcdReply, EtcdRequest } from '../../log/etcd/etcd-requests.ts';
import type { LogMessageFormat, RedLogEngine } from '../../log/red-log-engine.ts';
import type { ServerReply, ServerRequest } from '../../log/red-log.ts';
import { SEQUENCED_ENGINE } from '../../log/sequenced/engine.ts';
import { describeRecordProblem } from '../../site/wire/message-schemas.ts';
import { getLogs, type RedGeneration } from './red-generation.ts';
import { readEtcdServers, type EtcdRedLog, type RedLogSettings } from './red-log-settings.ts';

/** What `cluster.json` says about the red logs. */
interface RedLogFile {
  readonly redLog: RedLogSettings;
  readonly partitions: readonly {
    readonly name: string;
    /** The servers of its own log. Default: those of `main` */
    readonly redLog?: EtcdRedLog;
  }[];
}

/** The state of the server of the red log of `main`, for operators. */
export interface RedLogStatus {
  readonly engine: 'built-in' | 'etcd';
  /**
   * The server to which requests are sent. The next field is whether it can be reached. This field
   * and the following ones exist only for etcd.
   */
  readonly endpoint?: string;
  readonly isConnected?: boolean;
  /** The reason if it is not connected. */
  readonly problem?: string | undefined;
  /** The size of the database, its used part and its quota, as etcd last reported them. */
  readonly sizeBytes?: number | undefined;
  readonly usedBytes?: number | undefined;
  readonly quotaBytes?: number | undefined;
}

export interface RedLogParts {
  readonly generation: number;
  readonly redLog: RedLogEngine;
  readonly request?: (request: ServerRequest, partition: number) => void;
}

export class NodeRedLog {
  readonly #settings: RedLogSettings;
  /** The settings of each log and their field, if servers keep the logs. */
  readonly #servedBy: readonly {
    readonly field: string;
    readonly settings: EtcdRedLog;
  }[];
  readonly #deployment: string;
  #grpc: GrpcModule | undefined;
  #servers: readonly EtcdServers[] = [];
  #adapters: EtcdAdapter[] = [];
  #size: Partial<RedLogStatus> = {};

  constructor({ redLog, partitions }: RedLogFile, deployment: string) {
    this.#settings = redLog;
    this.#servedBy =
      redLog.engine === 'etcd'
        ? [undefined, ...partitions].map((partition) =>
            partition?.redLog === undefined
              ? { field: 'redLog', settings: redLog }
              : {
                  field: `partitions.${partition.name}.redLog`,
                  settings: partition.redLog,
                },
          )
        : [];
    this.#deployment = deployment;
  }

  get messages(): LogMessageFormat {
    return this.#settings.engine === 'etcd' ? ETCD_MESSAGE_FORMAT : SEQUENCED_ENGINE.messages;
  }

  get status(): RedLogStatus {
    return {
      engine: this.#settings.engine,
      ...this.#adapters[0]?.status,
      ...this.#size,
    };
  }

  /** Returns what orders red operations: a site, or `etcd`; `null` while the log is sealed. */
  getLeader({ leader }: RedGeneration): string | null {
    return this.#settings.engine === 'etcd' && leader !== null ? 'etcd' : leader;
  }

  /** @throws CorrectableError if a package or a file that etcd needs is missing */
  async load(): Promise<void> {
    if (this.#settings.engine !== 'etcd') return;
    this.#servers = this.#servedBy.map(({ field, settings }) => readEtcdServers(settings, field));
    this.#grpc = await loadGrpc();
  }

  /** Returns the parts that a site needs for its node of the log. */
  createParts(red: RedGeneration): RedLogParts {
    const { generation } = red;
    if (this.#settings.engine !== 'etcd') return { generation, redLog: SEQUENCED_ENGINE };
    const logOptions = {
      deployment: this.#deployment,
      generation,
      baseLengths: getLogs(red).map(({ base }) => base?.length ?? 0),
    };
    const redLog = createEtcdEngine({
      ...logOptions,
      describeProblem: describeRecordProblem,
    });
    return {
      generation,
      redLog,
      request: (request, partition) => this.#adapters[partition]?.send(request as EtcdRequest),
    };
  }

  /** Connects each log to its servers, if there are any. `onReply` gets their replies. */
  connect(onReply: (reply: ServerReply, partition: number) => void): void {
    const grpc = this.#grpc;
    if (grpc === undefined) return;
    this.#adapters = this.#servers.map((servers, partition) => {
      const adapter = new EtcdAdapter(grpc, servers, (reply) => {
        if (this.#adapters[partition] !== adapter) return;
        if (reply.kind === 'etcd.status' && partition === 0) this.#noteSize(reply);
        onReply(reply, partition);
      });
      return adapter;
    });
  }

  disconnect(): void {
    for (const adapter of this.#adapters) adapter.close();
    this.#adapters = [];
  }

  #noteSize({
    sizeBytes,
    usedBytes,
    quotaBytes,
  }: Extract<EtcdReply, { kind: 'etcd.status' }>): void {
    this.#size = { sizeBytes, usedBytes, quotaBytes };
  }
}
