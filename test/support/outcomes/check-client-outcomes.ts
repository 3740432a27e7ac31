/**
 * Compares the outcomes of a client's operations with what the store did, and returns the
 * contradictions.
 */
import { untruth, type CallOutcome } from '../hostile/outcomes.ts';
import { wrongViews } from './caller.ts';
import type { Accounts, Read, Update } from './calls.ts';
import type { Account } from './recorded-binding.ts';
import type { Coverage } from './coverage.ts';

/** The data of the check. */
export interface Evidence {
  readonly levels: readonly string[];
  /** Whether nothing happened that can fail an operation, except its own time limit. */
  readonly isCalm: boolean;
  readonly updates: readonly Update[];
  readonly reads: readonly Read[];
  readonly accounts: Accounts;
  /** The names of the runs of each update. */
  readonly runs: readonly (readonly string[])[];
  /** Returns whether the update with this mark was ever given to a socket. */
  hasLeft(mark: string): boolean;
  /** Returns whether a hook of the gateways ever allowed the execution of the update. */
  hasAllowed(mark: string): boolean;
  readonly sights: Coverage;
}

export function checkClientOutcomes(evidence: Evidence): string[] {
  const { updates, reads, runs, accounts } = evidence;
  return [
    ...updates.flatMap((update, i) =>
      prefixed(update.mark, ofUpdate(update, runs[i] ?? [], evidence)),
    ),
    ...reads.flatMap((read, i) => prefixed(`read ${i}`, ofRead(read, evidence))),
    ...accounts.all().flatMap(({ wrongs }) => prefixed('the store', wrongs)),
  ];
}

function prefixed(subject: string, problems: readonly string[]): string[] {
  return problems.map((problem) => `${subject} ${problem}`);
}

function ofUpdate(update: Update, runs: readonly string[], evidence: Evidence): string[] {
  const { mark, hadLeft, hadConnection, caller, wasCollected } = update;
  const { outcome: reported } = caller;
  const accounts = evidence.accounts.of('write', mark);
  const problems: (string | undefined)[] = ofCall(update, accounts, evidence);
  // Check this at the end of the schedule: an update that is cancelled in the tick in which it was
  // submitted is sent at the end of that tick.
  if (reported?.code === 'UNKNOWN' && !wasCollected && !evidence.hasLeft(mark)) {
    problems.push(`reported UNKNOWN "${reported.message}", though it never left`);
  }
  if (reported?.code !== 'success' || !update.isWeak) problems.push(untruth(reported, runs.length));
  else if (runs.length > 1) problems.push(`executed ${runs.length} times`);
  if (reported?.code === 'success' && runs.length > 0)
    problems.push(misfit(caller.value, mark, runs));
  if (reported !== undefined && !hadLeft && !hadConnection)
    problems.push(wronglyGivenUp(reported, runs.length));
  if (runs.length > 0 && !evidence.hasAllowed(mark))
    problems.push('executed, though that was never allowed');
  problems.push(wrongPrincipal(update, accounts));
  return problems.filter((problem) => problem !== undefined);
}

function ofRead(read: Read, evidence: Evidence): string[] {
  const { caller, mark, least, most } = read;
  if (caller.outcome === undefined) return ['never ended'];
  const problems = ofCall(read, evidence.accounts.of('read', mark), evidence);
  if (caller.outcome.code !== 'success') return problems;
  const { length } = (caller.value as { readonly runs: readonly string[] }).runs;
  const isRight = length >= (evidence.isCalm ? least : 0) && length <= most;
  return isRight
    ? problems
    : [...problems, `reported ${length}, which is not in ${least}..${most}`];
}

/** The checks that updates and reads share. */
function ofCall(call: Update | Read, accounts: readonly Account[], evidence: Evidence): string[] {
  const { caller, heard } = call;
  const problems = wrongViews(caller, accounts, evidence.levels);
  problems.push(...prefixed('of the connection:', heard?.wrongs ?? []));
  const { outcome: reported, views } = caller;
  if (reported === undefined) return problems;
  const { sights, isCalm } = evidence;
  sights.saw(reported.code);
  if (reported.code === 'success' && (heard?.confirmations ?? 0) > 0) sights.saw('confirmation');
  if (views.length > 1 && views.at(-1)?.confirms === false) sights.saw('correction');
  if (isCalm && call.isGenerous) {
    sights.saw('held to be of use');
    if (call.viewsMax > 1) sights.saw('held to several views');
    problems.push(...uselessness(call, reported));
  }
  return problems;
}

/**
 * Returns outcomes that are correct, but of no use: a failure or missing views although nothing
 * failed.
 */
function uselessness(
  { caller, viewsMax: maxViews }: Update | Read,
  { code, message }: CallOutcome,
): string[] {
  if (code !== 'success') return [`reported ${code} "${message}", though nothing went wrong`];
  const { length } = caller.views;
  return length < maxViews
    ? [`shown ${length} of ${maxViews} views, though nothing went wrong`]
    : [];
}

/** Checks that a result is from a run of the update. */
function misfit(value: unknown, mark: string, runs: readonly string[]): string | undefined {
  const input = value as { readonly mark: string; readonly run: string };
  if (input.mark !== mark) return `reported the result of ${input.mark}`;
  return runs.includes(input.run)
    ? undefined
    : `reported the result of "${input.run}"; executed as "${runs.join()}"`;
}

/** Returns what is wrong with the outcome of a write for which there was never a connection. */
function wronglyGivenUp({ code, retryable }: CallOutcome, executed: number): string | undefined {
  const reported = `given up on as ${code} before there was a connection`;
  if (executed > 0) return `${reported}, executed later`;
  const isDenied = retryable || code === 'UNAVAILABLE' || code === 'ABORTED';
  return isDenied ? undefined : `${reported}, though it certainly was not executed`;
}

function wrongPrincipal({ principal }: Update, accounts: readonly Account[]): string | undefined {
  const names = accounts.map(
    ({ context }) => context.origin?.client.split('/')[0] ?? 'no principal',
  );
  const executors = [...new Set(names)];
  if (executors.length > 1) return `ran as ${executors.join(' and ')}`;
  const isOther = principal !== undefined && executors.some((name) => name !== principal);
  return isOther ? `was submitted as ${principal}, ran as ${executors.join()}` : undefined;
}
