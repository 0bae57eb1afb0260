"""The asynchronous client: the same calls, several at once, cancelled."""

import asyncio
import unittest
from collections.abc import AsyncIterator
from contextlib import aclosing

from support import Agent, AgentTestCase, Todo, connections_of, until

from lanyard import LanyardError


class AsyncTests(AgentTestCase):
    def test_objects_queries_and_events(self) -> None:
        async def main() -> None:
            home = await self.agent.connect_async()
            todos = [Todo(f"{number}", tags={"async"}) for number in range(10)]
            await asyncio.gather(*(home.save(todo) for todo in todos))
            query = home.query(Todo).where("tags contains ?", "async")
            self.assertEqual(await query.count(), 10)
            self.assertEqual([each.title async for each in query.sort("title").limit(2)], ["0", "1"])
            self.assertEqual(len(await query.all()), 10)
            self.assertIsNotNone(await query.first())
            async with aclosing(query.live()) as live:
                self.assertEqual(len(await anext(live)), 10)
                await home.delete(todos[0])
                self.assertEqual(len(await anext(live)), 9)
            async with home.transaction() as draft:
                todos[1].opened += 1
                draft.save(todos[1])
                draft.emit("log", 1)
            self.assertEqual((await home.get(Todo, todos[1].id)).opened, 1)
            async for event in home.events("log", consumer="c"):
                self.assertEqual(event.payload, 1)
            self.assertEqual([event async for event in home.events("log", consumer="c")], [])
            self.assertEqual((await home.status()).device, self.home.status().device)

        self.run_async(main())

    def test_increments_of_many_tasks_add_up(self) -> None:
        async def main() -> None:
            home = await self.agent.connect_async()
            todo = await home.save(Todo("count", body="-"))

            async def add(number: int) -> None:
                mine = await home.get(Todo, todo.id)
                mine.opened += 1
                mine.body += f"{number}"
                await home.save(mine)

            await asyncio.gather(*(add(number) for number in range(10)))
            todo = await home.get(Todo, todo.id)
            self.assertEqual(todo.opened, 10)
            self.assertEqual(sorted(todo.body), sorted("-0123456789"))

        self.run_async(main())

    def test_what_changes_while_it_is_saved_stays_changed(self) -> None:
        async def main() -> None:
            home = await self.agent.connect_async()
            todo = await home.save(Todo("Milk"))
            todo.opened = 1
            saving = asyncio.create_task(home.save(todo))
            await asyncio.sleep(0)
            todo.title, todo.opened = "Bread", 3
            await saving
            self.assertEqual((todo.title, todo.opened), ("Bread", 3))
            await home.save(todo)
            self.assertEqual(await home.get(Todo, todo.id), todo)

        self.run_async(main())

    def test_a_cancelled_task_ends_its_request(self) -> None:
        until(lambda: connections_of(self.agent) == 0, "other connections are closed")

        async def main() -> None:
            home = await self.agent.connect_async()

            async def follow() -> None:
                async for _ in home.events("nothing", follow=True):
                    pass

            async def live() -> None:
                async for _ in home.query(Todo).live():
                    pass

            async def wait() -> None:
                await home.wait(60, peers=5)

            tasks = [asyncio.create_task(each()) for each in (follow, live, wait)]
            while connections_of(self.agent) < 3:
                await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.assertTrue(all(task.cancelled() for task in tasks))
            while connections_of(self.agent):
                await asyncio.sleep(0.01)

        self.run_async(main())

    def test_a_loop_that_is_left_closes_its_connection(self) -> None:
        async def main() -> None:
            home = await self.agent.connect_async()
            async for _ in home.query(Todo).live():
                break
            while connections_of(self.agent):
                await asyncio.sleep(0.01)

        self.run_async(main())

    def test_attachments_of_asynchronous_pieces(self) -> None:
        async def main() -> None:
            home = await self.agent.connect_async()
            todo = await home.save(Todo("Milk"))
            told: list[int] = []

            async def tell(sent: int, _: int | None) -> None:
                told.append(sent)

            async def pieces(fails: bool) -> AsyncIterator[bytes]:
                for _ in range(10):
                    yield b"x" * 100_000
                if fails:
                    raise ZeroDivisionError

            with self.assertRaises(ZeroDivisionError):
                await home.attach(todo, pieces(fails=True))
            self.assertEqual([each async for each in home.attachments(todo)], [])
            attachment = await home.attach(todo, pieces(fails=False), progress=tell)
            self.assertEqual((attachment.size, told[-1]), (1_000_000, 1_000_000))
            self.assertEqual(sum([len(piece) async for piece in home.read(attachment)]), 1_000_000)
            self.assertEqual((await home.attach(todo, self.agent.folder / "output")).name, "output")

            async def slow() -> AsyncIterator[bytes]:
                yield b"x"
                await asyncio.sleep(3_600)

            sending = asyncio.create_task(home.attach(todo, slow()))
            while not connections_of(self.agent):
                await asyncio.sleep(0.01)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            while connections_of(self.agent):
                await asyncio.sleep(0.01)
            self.assertEqual(len([each async for each in home.attachments(todo)]), 2)

        self.run_async(main())

    def test_it_goes_on_after_the_agent_was_killed(self) -> None:
        agent = Agent(self)

        async def main() -> None:
            home = await agent.connect_async()
            await home.save(Todo("Milk"))
            async with aclosing(home.query(Todo).live()) as live:
                await anext(live)
                await asyncio.to_thread(agent.kill)
                with self.assertRaises(LanyardError):
                    await home.status()
                await asyncio.to_thread(agent.start)
                bread = await home.save(Todo("Bread"))
                while bread not in await anext(live):
                    pass

        self.run_async(main())


if __name__ == "__main__":
    unittest.main()
