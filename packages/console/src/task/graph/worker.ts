import { draw, type Order } from './draw.ts'

self.onmessage = ({ data }: MessageEvent<Order>) => self.postMessage(draw(data))
