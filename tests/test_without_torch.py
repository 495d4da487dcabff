"""The forest learner needs no torch, and importing the library is instant."""

import subprocess
import sys

NO_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, NoTorch())
"""


def run(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_forest_learner_works_without_torch():
    done = run(
        NO_TORCH + "import lifelong\nfrom lifelong import SillyForest, evaluate\nfrom"
        " lifelong.tasks.simulations import gaussian_xor,"
        " xor_stream\nSillyForest(random_state=0).fit(*gaussian_xor(50,"
        " random_state=0)).predict([[1.0, 1.0]])\nevaluate(lambda seed: SillyForest(2,"
        " random_state=seed), xor_stream(50, random_state=0), 1)\nassert 'torch' not in"
        " sys.modules\n"
    )
    assert done.returncode == 0, done.stderr


def test_asking_for_the_network_learner_without_torch_names_the_extra():
    done = run(
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'torch' else find(name, *a)\n"
        "from lifelong import SillyNetwork\nSillyNetwork()\n"
    )
    assert done.returncode == 1
    assert (
        "SillyNetwork needs torch, which is not installed. Run: pip install 'lifelong[torch]'"
        in done.stderr
    )


def test_asking_for_the_network_encoder_without_torch_names_the_extra_too():
    done = run(
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'torch' else find(name, *a)\n"
        "from lifelong import NetworkEncoder\n"
    )
    assert "NetworkEncoder needs torch, which is not installed" in done.stderr


def test_images_at_the_front_door_without_torch_name_the_extra():
    done = run(
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'torch' else find(name, *a)\n"
        "import numpy as np\nfrom lifelong import LifelongClassifier\n"
        "LifelongClassifier().fit(np.zeros((4, 1, 4, 4)), [0, 1, 0, 1])\n"
    )
    assert "LifelongClassifier on images needs torch, which is not installed" in done.stderr


def test_importing_lifelong_imports_nothing_heavy():
    done = run(
        "import sys, lifelong; print([m for m in ('torch', 'sklearn', 'numpy', 'matplotlib') if m"
        " in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_every_public_name_is_there_and_an_unknown_one_is_explained():
    done = run(
        "import lifelong\n"
        "for name in lifelong.__all__: getattr(lifelong, name)\n"
        "assert set(lifelong.__all__) <= set(dir(lifelong))\n"
        "try: lifelong.SillyForrest\n"
        "except AttributeError as error: assert \"Did you mean 'SillyForest'?\" in str(error)\n"
    )
    assert done.returncode == 0, done.stderr
