"""Real trees for the command line to work on, made by git itself."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SHOP = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": '''"""Carts of customers."""

from shop.prices import PriceError, net_price


class Cart:
    """What a customer wants to buy."""

    def __init__(self):
        self.items = []

    def add(self, item, count=1):
        """Put an item into the cart."""
        if count < 0:
            raise PriceError("the count must not be negative")
        self.items.append((item, count))

    def total(self):
        """Sum of all prices."""
        return sum(net_price(item) * count for item, count in self.items)


class GiftCart(Cart):
    """A cart that is wrapped."""

    def total(self):
        return super().total() + wrapping_fee()


def wrapping_fee():
    return 3
''',
    "shop/prices.py": '''"""Prices and discounts."""


class PriceError(ValueError):
    """A price that cannot be."""


def net_price(item):
    """Price of an item after its discount."""
    return item.price - discount_of(item)


def discount_of(item):
    """Discount in euros; seasonal items have none."""
    return 0 if item.seasonal else item.price * item.discount
''',
    "tests/test_cart.py": """from shop import Cart


def test_total_of_an_empty_cart():
    assert Cart().total() == 0
""",
}

TRACEBACK = """Total of a gift cart is wrong

Calling `GiftCart.total` fails:

```
Traceback (most recent call last):
  File "/home/me/shop/cart.py", line 27, in total
    return super().total() + wrapping_fee()
  File "/home/me/shop/prices.py", line 10, in net_price
    return item.price - discount_of(item)
AttributeError: 'Item' object has no attribute 'discount'
```
"""


def git(folder: Path, *arguments: str | bytes) -> str:
    """Run git with an identity and without anybody's settings."""
    settings = (
        "user.name=A",
        "user.email=a@example.org",
        "protocol.file.allow=always",
        "init.defaultBranch=main",
    )
    options = [part for setting in settings for part in ("-c", setting)]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", *options, *arguments],
        cwd=folder,
        env=kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def write(folder: Path, files: dict[str, str] | dict[str, bytes]) -> Path:
    """Write files under a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def commit(folder: Path, message: str = "change") -> str:
    """Commit everything; return the commit's id."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def make_repository(folder: Path, files: dict[str, str] | dict[str, bytes] | None = None) -> Path:
    """Make a repository with one commit."""
    write(folder, SHOP if files is None else files)
    git(folder, "init", "--quiet")
    commit(folder, "first")
    return folder


def make_big_folder(folder: Path, n_files: int = 60) -> Path:
    """Make a folder with so many bytes that several processes read it."""
    body = "\n".join(
        f"def step_{number}(value, other):\n    return combine(value, other + {number})\n"
        for number in range(30)
    )
    remarks = "# Nothing to see here, but much of it.\n" * 2_000
    start = "def combine(a, b):\n    return a\n\n\n"
    files = {
        f"big/part_{number}.py": f"NUMBER = {number}\n\n\n{start}{body}{remarks}"
        for number in range(n_files)
    }
    return write(folder, files)
