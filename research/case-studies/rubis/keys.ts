/** The keys of bids and comments. */
import { joined, orderedText, TEXT_MAX } from '../composite-keys.ts';

/** Of a bid: of an item the highest bids stand last, and of equal ones the earliest. */
export const bidKey = (
  item: string,
  bid: { readonly bid: number; readonly at: number },
  id: string,
): string => joined(item, orderedText(bid.bid), orderedText(TEXT_MAX - bid.at), id);

/** Of a comment: those on one user stand together, the newest last. */
export const commentKey = ({
  id,
  comment,
}: {
  id: string;
  comment: { readonly user: string; readonly at: number };
}) => joined(comment.user, orderedText(comment.at), id);
