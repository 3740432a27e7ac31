/**
 * Deadlines of many operations on few timers. Operations with one time limit end in the order in which they began, so
 * one list and one timer per limit suffice, and setting or lifting one more deadline costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** What has a deadline. */
interface Limited {
  readonly state: string;
  readonly dueAt: number | undefined;
  /** Called once the deadline has passed; closes it, which calls `forget`. */
  expire(): void;
}

/** All that have one time limit. */
export interface DeadlineList {
  /** Expires `item` in `limitMs` unless it closes before, which calls `forget`. */
  add(item: Limited, limitMs: number): void;
  /** One of the list has closed; `wasHeld` unless nobody waited for it any more. */
  forget(wasHeld: boolean): void;
  /** The process stays alive for one more of the list, or for one less. */
  hold(isHeld: boolean): void;
}

/** Makes a list that calls `onIdle` when its timer fires and nothing is left. */
export function createDeadlineList(clock: Clock, onIdle: () => void): DeadlineList {
  /** In order; those that have closed stay until they are half of it. */
  let all: Limited[] = [];
  let open = 0;
  /** How many of them somebody waits for. */
  let held = 0;
  let timer: Timer | undefined;

  const isOpen = ({ state }: Limited): boolean => state === 'updating';
  const hold = (isHeld: boolean): void => {
    const before = held;
    held += isHeld ? 1 : -1;
    if (before === 0 || held === 0) timer?.hold?.(isHeld);
  };
  const arm = (dueAt: number, delayMs: number): void => {
    timer ??= clock.setTimer(() => fire(dueAt), Math.max(delayMs, 1));
    if (held === 0) timer.hold?.(false);
  };
  const fire = (armedFor: number): void => {
    // That the timer fires says that its time has passed, also where tests own the timers and not the clock.
    const now = Math.max(clock.now(), armedFor);
    timer = undefined;
    for (const item of all.filter(isOpen)) if (item.dueAt! <= now) item.expire();
    const next = all.find(isOpen);
    if (next) arm(next.dueAt!, next.dueAt! - now);
    else onIdle();
  };

  return {
    hold,
    add(item, limitMs) {
      all.push(item);
      hold(true);
      if (open++ === 0) arm(item.dueAt!, limitMs);
    },
    forget(wasHeld) {
      open--;
      // The timer stays for those to come, but an idle client must not keep the process alive.
      if (wasHeld) hold(false);
      if (all.length > 2 * open) all = all.filter(isOpen);
    },
  };
}
