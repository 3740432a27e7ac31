/**
 * Buying: an early view is the answer while plenty of tickets are left. The last ones wait for the
 * final view.
 */
import type { CorrectableError } from 'correctables';
import { useOperation } from 'correctables/react';
import { useEffect, useRef, useState } from 'react';
import { THRESHOLD } from './concerts.ts';
import { shop } from './contract.ts';

/** The answer that the customer sees. */
type Answer = 'none' | 'wait' | 'yes' | 'no' | 'unknown';

interface Sale {
  readonly value: { readonly seat: string | null; readonly left: number } | undefined;
  readonly final: boolean;
  readonly pending: boolean;
  readonly error: CorrectableError | undefined;
}

function toAnswer({ value, final, pending, error }: Sale): Answer {
  if (value && final) return value.seat === null ? 'no' : 'yes';
  if (error) return 'unknown';
  // The view is a guess. With so many tickets left, it is as good as certain that one of them is
  // the customer's.
  if (value && value.seat !== null && value.left >= THRESHOLD) return 'yes';
  return pending ? 'wait' : 'none';
}

export function Purchase({ concert, isSoldOut }: { concert: string; isSoldOut: boolean }) {
  const [buy, sale] = useOperation((id: string) => shop.buy({ concert: id }));
  const answer = toAnswer(sale);
  const times = useTimes(answer, sale.final);
  return (
    <div className="purchase">
      <button
        className="buy"
        type="button"
        disabled={answer === 'wait' || isSoldOut}
        onClick={() => {
          times.start();
          void buy(concert).catch(() => {}); // the state has the error
        }}
      >
        {answer === 'wait' ? 'Asking all sites …' : isSoldOut ? 'Sold out' : 'Buy a ticket'}
      </button>
      <div className="answer" role="status" data-answer={answer} data-final={sale.final}>
        {answer === 'yes' && (
          <>
            <strong>You have a ticket.</strong>{' '}
            <span>{sale.final ? sale.value?.seat : 'Your seat follows …'}</span>
          </>
        )}
        {answer === 'no' && <strong>Sorry, the last one has just been sold.</strong>}
        {answer === 'unknown' && (
          <strong>
            We do not know if you have a ticket ({sale.error?.code}). Look again before you buy
            another.
          </strong>
        )}
        {times.answered !== undefined && (
          <small>
            Answered in {times.answered} ms
            {times.confirmed !== undefined &&
              times.confirmed !== times.answered &&
              `, confirmed after ${times.confirmed} ms`}
          </small>
        )}
      </div>
    </div>
  );
}

/** How long the customer has waited for the answer, and for the final view, in milliseconds. */
function useTimes(answer: Answer, isFinal: boolean) {
  const startedAt = useRef(0);
  const [times, setTimes] = useState<{ readonly answered?: number; readonly confirmed?: number }>(
    {},
  );
  const isAnswered = answer === 'yes' || answer === 'no';
  useEffect(() => {
    if (!isAnswered) return;
    const elapsed = Math.round(performance.now() - startedAt.current);
    setTimes(({ answered = elapsed }) => ({ answered, ...(isFinal && { confirmed: elapsed }) }));
  }, [isAnswered, isFinal]);
  const start = () => {
    startedAt.current = performance.now();
    setTimes({});
  };
  return { ...times, start };
}
