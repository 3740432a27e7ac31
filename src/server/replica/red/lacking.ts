/**
 * Red operations that wait for rights. Nobody of their site waits for them, as R7 of docs/spec/redblue.md has it else: they
 * may wait for long, and get nothing in the end (docs/spec/rights.md, R-5).
 */
import { isCorrectableError, type CorrectableError } from '../../../correctable/errors.ts';
import type { GeneratorOutcome } from '../../generator/generator-run.ts';
import type { ReadSet } from '../../generator/read-set.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Lack } from '../core/rights-port.ts';
import { takeAllBehind, waitFor, type RedRequest, type RedRequests } from './red-requests.ts';

/** What comes of one that waits. */
interface Comes {
  /** Executes it, or says what it lacks still. */
  retry(): Lack | undefined;
  late(error: CorrectableError): void;
}

/** Those of one site. */
export class Lacking {
  readonly #core: ReplicaCore;
  readonly #requests: RedRequests;

  constructor(core: ReplicaCore, requests: RedRequests) {
    this.#core = core;
    this.#requests = requests;
  }

  /** Has a request wait for rights; those that it gives go on without it. */
  wait(request: RedRequest, lack: Lack, { retry, late }: Comes): readonly RedRequest[] {
    const { nowMs, rights } = this.#core;
    request.lackingSinceMs = nowMs;
    // Others are proposed before it, and it may read what they write.
    request.mayStand = true;
    rights?.wait(lack, {
      // What it waits otherwise is the red order's time.
      sinceMs: request.rejectedAtMs ?? nowMs - request.lackedMs,
      isOver: () => request.isOver,
      retry: () => {
        const rest = retry();
        if (rest === undefined) this.#end(request);
        return rest;
      },
      late,
    });
    return takeAllBehind(request);
  }

  /** What one that has waited lacks still, whatever lies under it: it goes on waiting, in its place, and its time goes on. */
  stillOf({ lackingSinceMs }: RedRequest, outcome: GeneratorOutcome): Lack | undefined {
    if (lackingSinceMs === undefined) return undefined;
    const { rights, state } = this.#core;
    try {
      return rights?.lackInRed(outcome, state.store);
    } catch (error) {
      // It takes more than stands: what lies under it may give that.
      if (!isCorrectableError(error)) throw error;
      return undefined;
    }
  }

  /**
   * Whether one that has waited comes into the red order behind another one: a crowd does so as if it came new, each behind
   * the one before it. Else all of them would be executed again whenever one of those that they stand on has ended.
   */
  comesBehind(request: RedRequest, reads: ReadSet): boolean {
    if (request.lackingSinceMs === undefined) return false;
    const writer = this.#requests.writerOf(reads, request);
    if (writer === undefined || !isAwaited(writer)) return false;
    waitFor(request, writer, 'followers');
    return true;
  }

  #end(request: RedRequest): void {
    request.lackedMs += this.#core.nowMs - (request.lackingSinceMs ?? this.#core.nowMs);
    request.lackingSinceMs = undefined;
    if (!request.isOver) this.#requests.comesLast(request);
  }
}

/** Whether who reads what the request is expected to write waits until it is proposed. */
export function isAwaited({ laid, lackingSinceMs }: RedRequest): boolean {
  return laid === undefined && lackingSinceMs === undefined;
}
