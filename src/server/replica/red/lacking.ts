/**
 * Red operations that wait for rights. Nobody of their site waits for them, as R7 of docs/spec/redblue.md has it else: they
 * may wait for long, and get nothing in the end (docs/spec/rights.md, R-5).
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Lack } from '../core/rights-port.ts';
import { takeAllBehind } from './red-requests.ts';
import type { RedRequest } from './red-requests.ts';

/** What comes of one that waits. */
interface Comes {
  /** Executes it, or says what it lacks still. */
  retry(): Lack | undefined;
  late(error: CorrectableError): void;
}

/** Has a request wait for rights; those that it gives go on without it. */
export function waitForRights(
  core: ReplicaCore,
  request: RedRequest,
  lack: Lack,
  { retry, late }: Comes,
): readonly RedRequest[] {
  // What it waits otherwise is the red order's time.
  const sinceMs = request.rejectedAtMs ?? core.nowMs - request.lackedMs;
  request.lackingSinceMs = core.nowMs;
  // Others are proposed before it, and it may read what they write.
  request.mayStand = true;
  core.rights?.wait(lack, {
    sinceMs,
    isOver: () => request.isOver,
    retry: () => {
      const rest = retry();
      if (rest === undefined) endLacking(request, core.nowMs);
      return rest;
    },
    late,
  });
  return takeAllBehind(request);
}

function endLacking(request: RedRequest, nowMs: number): void {
  request.lackedMs += nowMs - (request.lackingSinceMs ?? nowMs);
  request.lackingSinceMs = undefined;
}

/** Whether who reads what the request is expected to write waits until it is proposed. */
export function isAwaited({ laid, lackingSinceMs }: RedRequest): boolean {
  return laid === undefined && lackingSinceMs === undefined;
}
