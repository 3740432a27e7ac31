/**
 * Deadlines of many operations on few timers. Operations with one time limit
 * end in the order in which they began, so one list and one timer per limit
 * suffice, and setting or lifting one more deadline costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** What has a deadline. */
interface DeadlineItem {
  readonly state: string;
  readonly dueAt: number | undefined;
  /** Called once the deadline has passed; closes it, which calls `forget`. */
  expire(): void;
}

/** All that have one time limit. */
export interface DeadlineList {
  /**
   * Expires `item` in `limitMs` unless it closes before, which calls `forget`.
   */
  add(item: DeadlineItem, limitMs: number): void;
  /**
   * One of the list has closed. `wasHeld` is false if no caller waited for it
   * any more.
   */
  remove(wasHeld: boolean): void;
  /** The process stays alive for one more of the list, or for one less. */
  setRef(isHeld: boolean): void;
}

/**
 * Makes a list that calls `onIdle` when its timer fires and nothing is left.
 */
export function createDeadlineList(
  clock: Clock,
  onIdle: () => void,
): DeadlineList {
  /** In order; those that have closed stay until they are half of it. */
  let all: DeadlineItem[] = [];
  let open = 0;
  /** The number of those for which a caller waits. */
  let retained = 0;
  let timer: Timer | undefined;

  const isOpen = ({ state }: DeadlineItem): boolean => state === 'pending';
  const setRef = (isHeld: boolean): void => {
    const before = retained;
    retained += isHeld ? 1 : -1;
    if (before === 0 || retained === 0) timer?.setRef?.(isHeld);
  };
  const arm = (dueAt: number, delayMs: number): void => {
    timer ??= clock.setTimer(() => fire(dueAt), Math.max(delayMs, 1));
    if (retained === 0) timer.setRef?.(false);
  };
  const fire = (armedFor: number): void => {
    // That the timer fires says that its time has passed, also where tests own
    // the timers and not the clock.
    const now = Math.max(clock.now(), armedFor);
    timer = undefined;
    for (const item of all.filter(isOpen))
      if (item.dueAt! <= now) item.expire();
    const next = all.find(isOpen);
    if (next) arm(next.dueAt!, next.dueAt! - now);
    else onIdle();
  };

  return {
    setRef,
    add(item, limitMs) {
      all.push(item);
      setRef(true);
      if (open++ === 0) arm(item.dueAt!, limitMs);
    },
    remove(wasHeld) {
      open--;
      // The timer stays for those to come, but an idle client must not keep the
      // process alive.
      if (wasHeld) setRef(false);
      if (all.length > 2 * open) all = all.filter(isOpen);
    },
  };
}
