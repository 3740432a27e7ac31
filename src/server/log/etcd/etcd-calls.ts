/** Requests in flight: what each reply is for, and since when it is awaited. */
import type { EtcdAnswer, EtcdCall, EtcdRequest, EtcdRequestId } from './etcd-requests.ts';

interface PendingCall {
  readonly onAnswer: (answer: EtcdAnswer) => void;
  /** `Infinity` for a watch: it may have no reply for any time. */
  readonly sentAtMs: number;
}

export class EtcdCalls {
  readonly #send: (request: EtcdRequest) => void;
  readonly #pending = new Map<EtcdRequestId, PendingCall>();
  #nextId = 1;
  /** The time of the input that is handled. */
  nowMs = 0;

  constructor(send: (request: EtcdRequest) => void) {
    this.#send = send;
  }

  /** Since when the oldest call has been waiting for its reply; `Infinity` if no call is. */
  get waitingSinceMs(): number {
    let sinceMs = Infinity;
    for (const { sentAtMs } of this.#pending.values()) sinceMs = Math.min(sinceMs, sentAtMs);
    return sinceMs;
  }

  call(request: EtcdCall, onAnswer: (answer: EtcdAnswer) => void): void {
    const id = this.#nextId++;
    this.#pending.set(id, {
      onAnswer,
      sentAtMs: request.kind === 'etcd.watch' ? Infinity : this.nowMs,
    });
    this.#send({ ...request, id } as EtcdRequest);
  }

  /** Ignores replies to requests of an earlier connection. */
  onAnswer(answer: EtcdAnswer): void {
    const call = this.#pending.get(answer.id);
    if (call === undefined) return;
    if (answer.kind !== 'etcd.events') this.#pending.delete(answer.id);
    call.onAnswer(answer);
  }

  clear(): void {
    this.#pending.clear();
  }
}
