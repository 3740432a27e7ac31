/**
 * The engine of the red log that `cluster.json` names, and the connection to
 * etcd.
 */
import { EtcdAdapter } from '../../etcd/etcd-adapter.ts';
import type { EtcdServers } from '../../etcd/etcd-channel.ts';
import { loadGrpc, type GrpcModule } from '../../etcd/load-grpc.ts';
import { createEtcdEngine } from '../../log/etcd/engine.ts';
import { ETCD_MESSAGE_FORMAT } from '../../log/etcd/etcd-messages.ts';
import type { EtcdReply, EtcdRequest } from '../../log/etcd/etcd-requests.ts';
import type {
  LogMessageFormat,
  RedLogEngine,
} from '../../log/red-log-engine.ts';
import type { ServerReply, ServerRequest } from '../../log/red-log.ts';
import { SEQUENCED_ENGINE } from '../../log/sequenced/engine.ts';
import { describeRecordProblem } from '../../messages/message-schemas.ts';
import type { RedGeneration } from './red-generation.ts';
import { readEtcdServers, type RedLogSettings } from './red-log-settings.ts';

/** The state of the red log's server, for operators. */
export interface RedLogStatus {
  readonly engine: 'built-in' | 'etcd';
  /**
   * The server to which requests are sent. The next field is whether it can be
   * reached. This field and the following ones exist only for etcd.
   */
  readonly endpoint?: string;
  readonly isConnected?: boolean;
  /** The reason if it is not connected. */
  readonly problem?: string | undefined;
  /**
   * The size of the database, its used part and its quota, as etcd last
   * reported them.
   */
  readonly sizeBytes?: number | undefined;
  readonly usedBytes?: number | undefined;
  readonly quotaBytes?: number | undefined;
}

export interface RedLogParts {
  readonly generation: number;
  readonly redLog: RedLogEngine;
  readonly request?: (request: ServerRequest) => void;
}

export class NodeRedLog {
  readonly #settings: RedLogSettings;
  readonly #deployment: string;
  #grpc: GrpcModule | undefined;
  #servers: EtcdServers | undefined;
  #adapter: EtcdAdapter | undefined;
  #size: Partial<RedLogStatus> = {};

  constructor(settings: RedLogSettings, deployment: string) {
    this.#settings = settings;
    this.#deployment = deployment;
  }

  get messages(): LogMessageFormat {
    return this.#settings.engine === 'etcd'
      ? ETCD_MESSAGE_FORMAT
      : SEQUENCED_ENGINE.messages;
  }

  get status(): RedLogStatus {
    return {
      engine: this.#settings.engine,
      ...this.#adapter?.status,
      ...this.#size,
    };
  }

  /**
   * Returns what orders red operations: a site, or `etcd`; `null` while the log
   * is sealed.
   */
  getLeader({ leader }: RedGeneration): string | null {
    return this.#settings.engine === 'etcd' && leader !== null
      ? 'etcd'
      : leader;
  }

  /**
   * @throws CorrectableError if a package or a file that etcd needs is missing
   */
  async load(): Promise<void> {
    if (this.#settings.engine !== 'etcd') return;
    this.#servers = readEtcdServers(this.#settings);
    this.#grpc = await loadGrpc();
  }

  /** Returns the parts that a site needs for its node of the log. */
  createParts({ generation, base }: RedGeneration): RedLogParts {
    if (this.#settings.engine !== 'etcd')
      return { generation, redLog: SEQUENCED_ENGINE };
    const logOptions = {
      deployment: this.#deployment,
      generation,
      baseLength: base?.length,
    };
    const redLog = createEtcdEngine({
      ...logOptions,
      describeProblem: describeRecordProblem,
    });
    return {
      generation,
      redLog,
      request: (request) => this.#adapter?.send(request as EtcdRequest),
    };
  }

  /**
   * Connects to the servers, if there are any. `onReply` gets their replies.
   */
  connect(onReply: (reply: ServerReply) => void): void {
    if (this.#grpc === undefined || this.#servers === undefined) return;
    const adapter = (this.#adapter = new EtcdAdapter(
      this.#grpc,
      this.#servers,
      (reply) => {
        if (this.#adapter !== adapter) return;
        if (reply.kind === 'etcd.status') this.#noteSize(reply);
        onReply(reply);
      },
    ));
  }

  disconnect(): void {
    this.#adapter?.close();
    this.#adapter = undefined;
  }

  #noteSize({
    sizeBytes,
    usedBytes,
    quotaBytes,
  }: Extract<EtcdReply, { kind: 'etcd.status' }>): void {
    this.#size = { sizeBytes, usedBytes, quotaBytes };
  }
}
