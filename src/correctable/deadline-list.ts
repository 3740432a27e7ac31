/**
 * The deadlines of many operations on few timers. Operations with one timeout
 * end in the order in which they began. So one list and one timer for each
 * timeout suffice, and to set or remove one more deadline costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** An item with a deadline. */
interface DeadlineItem {
  readonly state: string;
  readonly dueAt: number | undefined;
  /**
   * Called once the deadline has passed. It closes the item, which calls
   * `remove`.
   */
  expire(): void;
}

/** All items that have one timeout. */
export interface DeadlineList {
  /**
   * Expires `item` in `limitMs` unless it closes before, which calls `remove`.
   */
  add(item: DeadlineItem, limitMs: number): void;
  /**
   * Notes that an item of the list has closed. `wasHeld` is false if no caller
   * waited for it any more.
   */
  remove(wasHeld: boolean): void;
  /**
   * Keeps the process alive for one more item of the list, or for one fewer.
   */
  setRef(isHeld: boolean): void;
}

/**
 * Creates a list that calls `onIdle` when its timer fires and no item is left.
 */
export function createDeadlineList(
  clock: Clock,
  onIdle: () => void,
): DeadlineList {
  /** The items in order. Closed items stay until they are half of the list. */
  let all: DeadlineItem[] = [];
  let open = 0;
  /** The number of items for which a caller waits. */
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
    // The timer has fired, so its time has passed. The clock may not show that
    // if a test controls the timers but not the clock.
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
      // The timer stays for items to come, but an idle client must not keep the
      // process alive.
      if (wasHeld) setRef(false);
      if (all.length > 2 * open) all = all.filter(isOpen);
    },
  };
}
