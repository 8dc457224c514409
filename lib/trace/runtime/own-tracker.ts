/**
 * Follows the tracer's own operations while the hook that would know them is disabled. The write of a stream goes on over
 * many turns of the loop, and what its callbacks start would be taken for the program's once tracing is enabled again.
 */
import { createHook, executionAsyncId } from 'node:async_hooks';
import { isOwn, own, tagOwn } from './own-operations';

/** Says that nothing of ours is under way any more. */
type IsOver = () => boolean;

let followed: readonly IsOver[] = [];

const hook = createHook({
  init(id) {
    try {
      if (own.depth > 0 || isOwn(executionAsyncId())) {
        tagOwn(id);
      } else {
        keep((isOver) => !isOver());
      }
    } catch {
      // No stack left: thrown on, it would end the process. One operation of ours may be taken for the program's.
    }
  },
});

function keep(wanted: (isOver: IsOver) => boolean): void {
  // Within a hook nothing is called that the program can have patched.
  const kept: IsOver[] = [];
  for (let i = 0; i < followed.length; i++) {
    if (wanted(followed[i])) {
      kept[kept.length] = followed[i];
    }
  }
  followed = kept;
  if (followed.length === 0) {
    hook.disable();
  }
}

/** Until it is over, as is seen when the program starts an operation, or until `unfollow`. */
export function follow(isOver: IsOver): void {
  if (!isOver()) {
    keep((one) => one !== isOver);
    followed = [...followed, isOver];
    hook.enable();
  }
}

export function unfollow(isOver: IsOver): void {
  if (followed.length > 0) {
    keep((one) => one !== isOver);
  }
}
