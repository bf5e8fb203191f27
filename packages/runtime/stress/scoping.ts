import { tidy } from "@warpwright/runtime";
import type { Box, World } from "./world.js";

/** Runs some actions of which a part of the new tensors stays. */
export function tidyUp(world: World, act: () => void): void {
  const { random, boxes } = world;
  const first = world.nextId;
  const count = random.between(1, 5);
  const throws = random.oneIn(10);
  let kept: Box[] = [];
  world.log("tidy");
  world.tidying++;
  try {
    tidy(() => {
      for (let i = 0; i < count; i++) act();
      if (throws) throw new Error("on purpose");
      kept = boxes.filter(({ id }) => id >= first && random.oneIn(2));
      return { kept: new Map(kept.map((box) => [box.id, [box.tensor]])) };
    });
  } catch (error) {
    if ((error as Error).message !== "on purpose") throw error;
  } finally {
    world.tidying--;
  }
  for (const box of boxes.filter(({ id }) => id >= first)) {
    if (kept.includes(box)) continue;
    world.refused("ERR_DISPOSED", () => box.tensor.pointer);
    world.remove(box);
  }
  world.log(`end of tidy, ${kept.length} stay`);
}
